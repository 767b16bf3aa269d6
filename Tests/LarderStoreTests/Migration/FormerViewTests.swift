import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("The view of a former schema")
struct FormerViewTests {
    private static let one = """
        {"version": "1.0.0", "entities": [
          {"name": "Book", "attributes": [
            {"name": "title", "type": "string", "unique": true, "preserveValueOnDeletion": true},
            {"name": "pages", "type": "int64", "optional": true}],
           "relationships": [
            {"name": "author", "destination": "Writer", "inverse": "books", "optional": true}]},
          {"name": "Writer", "attributes": [{"name": "name", "type": "string"}],
           "relationships": [
            {"name": "books", "destination": "Book", "toMany": true, "inverse": "author"}]}]}
        """

    /// With a price of books that deleted books preserve, a derived number of pages, and loans,
    /// which keep books from being deleted.
    private static let two = """
        {"version": "2.0.0", "entities": [
          {"name": "Book", "attributes": [
            {"name": "title", "type": "string", "unique": true, "preserveValueOnDeletion": true},
            {"name": "pages", "type": "int64", "optional": true},
            {"name": "price", "type": "decimal", "default": "9.99",
             "preserveValueOnDeletion": true},
            {"name": "sheets", "type": "int64", "optional": true, "derived": "pages * 2"}],
           "relationships": [
            {"name": "author", "destination": "Writer", "inverse": "books", "optional": true},
            {"name": "loans", "destination": "Loan", "toMany": true, "inverse": "book",
             "deleteRule": "deny"}]},
          {"name": "Loan", "attributes": [{"name": "reader", "type": "string"}],
           "relationships": [{"name": "book", "destination": "Book", "inverse": "loans"}]},
          {"name": "Writer", "attributes": [{"name": "name", "type": "string"}],
           "relationships": [
            {"name": "books", "destination": "Book", "toMany": true, "inverse": "author"}]}]}
        """

    private let folder: MemoryFolder
    private let store: Store
    private let writer: any StoreWriter
    private let reader: any StoreReader
    private let view: any StoreView
    private let book: PersistentIdentifier

    /// A store with one book that was migrated from the first schema to the second.
    init() throws {
        let folder = try MemoryFolder()
        let path = folder.storePath
        do {
            let store = try Store.open(path: path, schema: try Self.schema(Self.one))
            let writer = try store.makeWriter()
            defer { writer.close() }
            let set = ChangeSet([.insert(Self.new("Book"), values: ["title": "Sea", "pages": 10])])
            book = try writer.save([set])[0].get().inserted[0]
        }
        self.folder = folder
        store = try Self.migrated(path, to: Self.two)
        writer = try store.makeWriter()
        reader = try store.makeReader()
        view = try #require(store.formerView(version: "1.0.0", fingerprint: ""))
    }

    private static func schema(_ text: String) throws -> Schema {
        try SchemaFile.schema(parsing: text)
    }

    private static func migrated(_ path: String, to text: String) throws -> Store {
        try Store.open(
            path: path, schema: try schema(text), options: StoreOptions(migrates: true))
    }

    private static func new(_ entityName: String) -> PersistentIdentifier {
        PersistentIdentifier(temporary: "new", entityName: entityName)
    }

    /// Saves as a client of the former schema does.
    private func save(_ changes: Change...) throws -> SaveResult {
        try #require(writer.save([SaveRequest(ChangeSet(changes), view: view)]).first).get()
    }

    private func refusal(_ changes: Change...) throws -> LarderError {
        let request = SaveRequest(ChangeSet(changes), view: view)
        let error = #expect(throws: LarderError.self) { try writer.save([request])[0].get() }
        return try #require(error)
    }

    /// Saves as a client of the current schema does.
    @discardableResult
    private func saveNow(_ changes: Change...) throws -> SaveResult {
        try #require(writer.save([ChangeSet(changes)]).first).get()
    }

    private func record(
        _ identifier: PersistentIdentifier, in view: any StoreView
    ) throws -> Record? {
        try view.reader(over: reader).objects([identifier], properties: nil, budget: ReadBudget())
            .flatMap { $0.records(store: store.storeDescription.identifier) }.first
    }

    private func error(_ body: () throws -> Void) throws -> LarderError {
        do { try body() } catch let error as LarderError {
            return error
        } catch ReadFailure.failed(let error) {
            return error
        }
        throw LarderError(.unsupported, "nothing failed")
    }

    // MARK: Which schemas have one

    @Test("the view of a former schema is found by the version, the fingerprint, or both")
    func finding() throws {
        let schema = try Self.schema(Self.one)
        #expect(view.storeDescription.schema == schema)
        #expect(view.storeDescription.fingerprint == schema.fingerprint)
        #expect(view.storeDescription.identifier == store.storeDescription.identifier)
        for (version, fingerprint) in [("", schema.fingerprint), ("1.0.0", schema.fingerprint)] {
            let found = store.formerView(version: version, fingerprint: fingerprint)
            #expect(found === view)
        }
        #expect(store.formerView(version: "1.0.1", fingerprint: "") == nil)
        #expect(store.formerView(version: "1.0.1", fingerprint: schema.fingerprint) == nil)
        #expect(store.formerView(version: "1.0.0", fingerprint: "0123456789abcdef") == nil)
    }

    @Test("views exist for the last 16 schemas, and for none after a removing migration")
    func limits() throws {
        let folder = try MemoryFolder()
        let path = folder.storePath
        do { _ = try Store.open(path: path, schema: try Self.schema(Self.one)) }
        do { _ = try Self.migrated(path, to: Self.two) }
        func views(_ text: String?) throws -> [String] {
            let store =
                if let text {
                    try Self.migrated(path, to: text)
                } else { try Store.open(path: path, schema: nil) }
            return (1...18).map { "\($0).0.0" }.filter {
                let view = store.formerView(version: $0, fingerprint: "")
                #expect(view == nil || view?.storeDescription.schema.version == $0)
                return view != nil
            }
        }
        func text(_ number: Int) -> String {
            let added = (3...number).map {
                "{\"name\": \"E\($0)\", \"attributes\": "
                    + "[{\"name\": \"x\", \"type\": \"string\"}]}, "
            }
            return Self.two.replacing("2.0.0", with: "\(number).0.0").replacing(
                "{\"name\": \"Loan\"", with: added.joined() + "{\"name\": \"Loan\"")
        }
        for number in 3...16 { _ = try views(text(number)) }
        #expect(try views(text(17)) == (1...16).map { "\($0).0.0" })
        // The oldest is forgotten.
        #expect(try views(text(18)) == (2...17).map { "\($0).0.0" })
        #expect(try views(nil) == (2...17).map { "\($0).0.0" })
        #expect(try views(Self.two.replacing("2.0.0", with: "19.0.0")) == [])
    }

    // MARK: Reads

    @Test("the view of a former schema has its own properties and entities only")
    func reads() throws {
        let former = try #require(try record(book, in: view))
        #expect(Set(former.values.keys) == ["title", "pages", "author"])
        let current = try #require(try record(book, in: store))
        #expect(current["price"] == .decimal(Decimal(string: "9.99")!))
        #expect(current["sheets"] == 20)

        let unknownProperty = try error {
            _ = try view.plan(.fetch(Fetch("Book", where: .format("price > 1"))), QueryParameters())
        }
        #expect(unknownProperty.code == .unknownProperty)
        let unknownEntity = try error {
            _ = try view.plan(.count(entityName: "Loan", predicate: nil), QueryParameters())
        }
        #expect(unknownEntity.code == .unknownEntity)
        let loan = try saveNow(
            .insert(Self.new("Loan"), values: ["reader": "Ann", "book": .object(book)])
        ).inserted[0]
        #expect(try error { _ = try record(loan, in: view) }.code == .unknownEntity)
        let selected = try error {
            _ = try view.reader(over: reader).objects(
                [book], properties: ["price"], budget: ReadBudget())
        }
        #expect(selected.code == .unknownProperty)
        // The connection still reads everything.
        #expect(try record(loan, in: store)?["reader"] == "Ann")
    }

    // MARK: Writes

    @Test("the view of a former schema gives inserts the defaults of added properties")
    func writes() throws {
        let inserted = try save(.insert(Self.new("Book"), values: ["title": "Sky", "pages": 3]))
            .inserted[0]
        let added = try #require(try record(inserted, in: store))
        #expect(added["price"] == .decimal(Decimal(string: "9.99")!))
        #expect(added["sheets"] == 6)

        try saveNow(
            .update(inserted, ifVersion: nil, values: ["price": .decimal(Decimal(5))]))
        let version = try #require(try record(inserted, in: view)).version
        #expect(version == 2)
        _ = try save(.update(inserted, ifVersion: 2, values: ["pages": 4]))
        let updated = try #require(try record(inserted, in: store))
        #expect(updated["price"] == .decimal(Decimal(5)))
        #expect(updated["sheets"] == 8)
        #expect(
            try save(.updateAll("Book", set: ["pages": "7"])).affected[0].count == 2)
        #expect(try record(inserted, in: store)?["price"] == .decimal(Decimal(5)))
        #expect(try record(inserted, in: store)?["sheets"] == 14)
    }

    @Test("the view of a former schema refuses added names in changes and conditions")
    func unknownNames() throws {
        let added: [(LarderError, ErrorCode)] = [
            (
                try refusal(.insert(Self.new("Book"), values: ["title": "x", "price": 1])),
                .unknownProperty
            ),
            (try refusal(.insert(Self.new("Loan"), values: ["reader": "x"])), .unknownEntity),
            (try refusal(.update(book, ifVersion: nil, values: ["price": 1])), .unknownProperty),
            (
                try refusal(.updateAll("Book", where: "price > 1", set: ["pages": "7"])),
                .unknownProperty
            ),
            (try refusal(.updateAll("Book", set: ["price": "7"])), .unknownProperty),
            (try refusal(.deleteAll("Loan")), .unknownEntity),
        ]
        for (error, code) in added { #expect(error.code == code, "\(error)") }
        var set = ChangeSet([.update(book, ifVersion: nil, values: ["pages": 1])])
        set.conditions = [
            ChangeSet.Condition(ObjectSelection("Book", where: .format("price > 1")), count: 1)
        ]
        let error = #expect(throws: LarderError.self) {
            try writer.save([SaveRequest(set, view: view)])[0].get()
        }
        #expect(error?.code == .unknownProperty)
        #expect(try record(book, in: store)?.version == 1)
    }

    @Test("the view of a former schema applies added rules, without their names")
    func rules() throws {
        try saveNow(.insert(Self.new("Loan"), values: ["reader": "Ann", "book": .object(book)]))
        let error = try refusal(.delete(book, ifVersion: nil))
        #expect(error.code == .deleteDenied)
        #expect("\(error)".contains("loans"))
        let known = try #require(view.knownNames).known(error)
        #expect(known.code == .deleteDenied)
        #expect(known.message.contains("a rule of Book that the schema got after version 1.0.0"))
        #expect(known.details.map(\.rule) == [.deleteRule])
        #expect(known.details[0].entityName == "Book")
        for text in ["\(known)", "\(known.details)", known.uri ?? ""] {
            #expect(!text.contains("oan"), "\(text)")
        }
        // Uniqueness is a rule of both, and stays as it is.
        let other = try refusal(.insert(Self.new("Book"), values: ["title": "Sea"]))
        #expect(other.code == .uniquenessViolated)
        #expect(view.knownNames?.known(other) == other)
    }

    // MARK: The history

    /// For example `3 updated Book pages`.
    private func lines(_ transactions: [HistoryTransaction]) -> [String] {
        transactions.flatMap { transaction in
            (transaction.runs.isEmpty ? [HistoryRun?.none] : transaction.runs.map { $0 }).map {
                guard let run = $0 else { return "\(transaction.id) empty" }
                return (["\(transaction.id) \(run.kind) \(run.entityName)"] + run.properties)
                    .joined(separator: " ")
            }
        }
    }

    @Test("the view of a former schema has a history without added entities and properties")
    func history() throws {
        let price = Value.decimal(Decimal(1))
        try saveNow(.update(book, ifVersion: nil, values: ["price": price]))
        try saveNow(.insert(Self.new("Loan"), values: ["reader": "Ann", "book": .object(book)]))
        try saveNow(
            .update(
                book, ifVersion: nil,
                values: ["price": .decimal(Decimal(2)), "pages": 3, "loans": .objects([])]))
        try saveNow(.deleteAll("Loan"), .delete(book, ifVersion: nil))
        func page(_ filter: HistoryFilter, _ start: Int64 = 1) throws -> HistoryPage {
            try reader.history(
                HistoryPageRequest(
                    from: HistoryPosition(number: start),
                    HistorySelection(
                        filter, in: view.storeDescription.schema, knownNames: view.knownNames),
                    bytesMax: 1 << 20), budget: ReadBudget())
        }
        let all = try page(HistoryFilter())
        #expect(
            lines(all.transactions) == [
                "1 inserted Book", "2 updated Book", "3 updated Book", "4 updated Book pages",
                "5 deleted Book",
            ])
        // The position is after the last transaction, whether there is anything of it or not.
        #expect(all.end.number == 6)
        #expect(all.transactions.last?.tombstones.map(\.values) == [["title": "Sea"]])
        #expect(
            lines(try page(HistoryFilter(kinds: [.updated], properties: ["pages"])).transactions)
                == ["4 updated Book pages"])
        let unknown = try error { _ = try page(HistoryFilter(entities: ["Loan"])) }
        #expect(unknown.code == .unknownEntity)
        // A subscriber gets transactions that were read with all of their changes.
        let whole = try reader.history(
            HistoryPageRequest(from: HistoryPosition(number: 1), .all, bytesMax: 1 << 20),
            budget: ReadBudget())
        let selection = try HistorySelection(
            HistoryFilter(), in: view.storeDescription.schema, knownNames: view.knownNames)
        #expect(whole.transactions.compactMap(selection.selected) == all.transactions)
    }
}
