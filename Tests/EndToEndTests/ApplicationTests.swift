import FoundationEssentials
import LarderClient
import Testing

@Suite("Aggregates, subqueries and identifiers of an application")
struct ApplicationTests {
    @Test("students are counted by year of birth")
    func studentsByYear() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let years: [Int64] = (0..<500).map { 1_990 + ($0 * $0) % 13 }
        let changes = years.enumerated().map { number, year in
            Change.insert(
                PersistentIdentifier(temporary: "\(number)", entityName: "Student"),
                values: ["name": .string("Student \(number)"), "birthOfYear": .int(year)])
        }
        #expect(try client.save(ChangeSet(changes)).inserted.count == 500)
        let rows = try client.aggregate(
            "Student", groupBy: ["birthOfYear"], [.count], sort: [SortKey("birthOfYear")])
        let expected = Dictionary(grouping: years) { $0 }.sorted { $0.key < $1.key }
        #expect(rows.map { $0["birthOfYear"] } == expected.map { .int($0.key) })
        #expect(rows.map { $0["count"] } == expected.map { .int(Int64($0.value.count)) })
        let older = try client.aggregate(
            "Student", where: "birthOfYear < 1995", arguments: [40], groupBy: ["birthOfYear"],
            [.count, Aggregate.Column(.minimum, "name", name: "first")], having: "count > %@")
        #expect(
            older.count == expected.filter { $0.key < 1_995 && $0.value.count > 40 }.count)
    }

    @Test("SUBQUERY and ANY find the collections with an article in a category, as Swift does")
    func collectionsOfCategory() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let (changes, expected) = library()
        let saved = try client.save(ChangeSet(changes))
        let categories = saved.inserted.filter { $0.entityName == "Category" }
        for (number, category) in categories.enumerated() {
            let wanted = Int64(expected[number].count)
            let object = Value.object(category)
            let name = Value.string("category \(number)")
            let queries: [(String, Value)] = [
                ("SUBQUERY(articles, $a, $a.category == %@).@count > 0", object),
                ("SUBQUERY(articles, $a, $a.category.name == %@).@count > 0", name),
                ("ANY articles.category == %@", object),
                ("ANY articles.category.name == %@", name),
            ]
            for (format, argument) in queries {
                let count = try client.count(
                    "ArticleCollection", where: format, arguments: [.value(argument)])
                #expect(count == wanted, "\(format) of category \(number)")
            }
            let names = try client.fetch(
                "ArticleCollection", where: "ANY articles.category.name == %@",
                arguments: [.value(name)], sort: [SortKey("name")]
            ).compactMap { $0["name"] }
            #expect(names == expected[number].sorted().map { .string("collection \($0)") })
        }
    }

    /// Nine collections of articles in five categories, and the collections of each category.
    private func library() -> (changes: [Change], expected: [Set<Int>]) {
        func temporary(_ entityName: String, _ number: Int) -> PersistentIdentifier {
            PersistentIdentifier(temporary: "\(entityName) \(number)", entityName: entityName)
        }
        var changes: [Change] = []
        var expected = [Set<Int>](repeating: [], count: 5)
        for number in 0..<5 {
            changes.append(
                .insert(
                    temporary("Category", number),
                    values: ["name": .string("category \(number)")]))
        }
        for number in 0..<9 {
            changes.append(
                .insert(
                    temporary("ArticleCollection", number),
                    values: ["name": .string("collection \(number)")]))
        }
        for number in 0..<60 {
            // The last category keeps to few collections, and one collection has none of its own.
            let (collection, category) = (number % 8, (number / 8) % 5)
            let isKept = category != 4 || collection < 2
            if isKept { expected[category].insert(collection) }
            changes.append(
                .insert(
                    temporary("Article", number),
                    values: [
                        "title": .string("article \(number)"), "wordCount": .int(Int64(number)),
                        "category": isKept ? .object(temporary("Category", category)) : .null,
                        "collection": .object(temporary("ArticleCollection", collection)),
                    ]))
        }
        return (changes, expected)
    }

    @Test("identifiers pass between processes as URIs")
    func identifierBetweenProcesses() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let ann = try client.insert("Student", ["name": "Ann", "birthOfYear": 2_001])
        let got = try daemon.run(
            "larder",
            ["get", ann.uriRepresentation, "--socket", daemon.socket, "--output", "jsonl"])
        #expect(got.status == 0 && got.errors.isEmpty)
        #expect(got.output.contains("\"@id\":\"\(ann.uriRepresentation)\""))
        #expect(got.output.contains("\"Ann\""))
        let inserted = try daemon.run(
            "larder",
            ["insert", "Student", "name=Bob", "birthOfYear=1999", "--socket", daemon.socket])
        #expect(inserted.status == 0, "\(inserted.errors)")
        let line = String(inserted.output.prefix { !$0.isNewline })
        let bob = try PersistentIdentifier(uriRepresentation: line)
        #expect(try client.object(for: bob)?["name"] == "Bob")
        let other = try daemon.connect()
        let same = try PersistentIdentifier(uriRepresentation: ann.uriRepresentation)
        #expect(same == ann)
        #expect(try other.object(for: same)?["birthOfYear"] == 2_001)
    }

    @Test("four kinds of invalid URIs are four different errors")
    func invalidURIs() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let ann = try client.insert("Student", ["name": "Ann", "birthOfYear": 2_001])
        let uri = ann.uriRepresentation
        #expect(
            failure {
                _ = try PersistentIdentifier(uriRepresentation: "x-coredata://nonsense")
            }?.code == .malformedIdentifier)
        let foreign = PersistentIdentifier(store: UUID(), entityName: "Student", key: 1)
        #expect(code { _ = try client.object(for: foreign) } == .foreignIdentifier)
        let unknown = try PersistentIdentifier(
            uriRepresentation: uri.replacing("Student", with: "Teacher"))
        #expect(code { _ = try client.object(for: unknown) } == .unknownEntity)
        try client.delete(ann)
        #expect(try client.object(for: ann) == nil)
        #expect(code { _ = try client.update(ann, ["name": "Anna"]) } == .objectNotFound)
        let later = try client.insert("Student", ["name": "Eve", "birthOfYear": 2_002])
        #expect(later != ann)
        #expect(try client.object(for: ann) == nil)
    }

    private func code(_ call: () throws -> Void) -> ErrorCode? {
        failure(of: call)?.code
    }
}
