import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

/// Counts the rows that edits write, instead of measuring time.
@Suite("the cost of edits of a long list")
struct EditCostTests {
    private static let listCount = 100_000
    /// The object's row, the row of the list's owner, and the rows of the history.
    private static let rowsMax: Int64 = 8

    private let library: Library

    init() throws { library = try Library(schema: Lists.schema()) }

    /// The rows that a set inserts, updates and deletes.
    private func writtenRows(_ changes: Change...) throws -> Int64 {
        let connection = try #require(library.writer.statements?.connection)
        let before = try #require(try connection.integer("SELECT total_changes()"))
        _ = try library.writer.save([ChangeSet(changes)])[0].get()
        return try #require(try connection.integer("SELECT total_changes()")) - before
    }

    private func edit(_ object: PersistentIdentifier, _ edit: RelationshipEdit) -> Change {
        .update(object, ifVersion: nil, values: [:], edits: [edit])
    }

    private func inserted(_ entityName: String, _ count: Int) throws -> [PersistentIdentifier] {
        let inserts = (0..<count).map {
            Change.insert(.new("\($0)", entityName), values: [:])
        }
        return try library.writer.save([ChangeSet(inserts)])[0].get().inserted
    }

    @Test("the cost of an edit does not grow with the list, at any position")
    func oneToMany() throws {
        let books = try inserted("Book", Self.listCount)
        let new = try inserted("Book", 3)
        let middle = books[Self.listCount / 2]
        let index = Int64(Self.listCount / 2)
        let shelf = try library.insert("Shelf", ["books": .objects(books)])
        var expected = library.keys(books)
        let edits: [RelationshipEdit] = [
            .add([new[0]], to: "books", at: .before(middle)),
            .add([new[1]], to: "books", at: .index(index)),
            .add([new[2]], to: "books", at: .first),
            .move([books[0]], in: "books", to: .after(middle)),
            .move([books[1]], in: "books", to: .index(index)),
            .move([middle], in: "books", to: .last),
            .remove([new[1]], from: "books"),
        ]
        for edit in edits {
            #expect(try writtenRows(self.edit(shelf, edit)) <= Self.rowsMax, "\(edit)")
            Self.apply(edit, to: &expected)
        }
        #expect(try library.keys(shelf, "books") == expected)
    }

    /// The edit of an array.
    private static func apply(_ edit: RelationshipEdit, to keys: inout [Int64]) {
        guard let object = edit.objects.first?.permanentKey else { return }
        keys.removeAll { $0 == object }
        let index: Int? =
            switch edit.position {
            case .first: 0
            case .last: keys.count
            case .before(let neighbor): keys.firstIndex { $0 == neighbor.permanentKey }
            case .after(let neighbor):
                keys.firstIndex { $0 == neighbor.permanentKey }.map { $0 + 1 }
            case .index(let index): Int(index)
            case nil: nil
            }
        if let index { keys.insert(object, at: index) }
    }

    @Test("setting a whole list costs as much as its differences")
    func wholeList() throws {
        var books = try inserted("Book", 10_000)
        let shelf = try library.insert("Shelf", ["books": .objects(books)])
        let all = Value.objects(books)
        #expect(
            try writtenRows(.update(shelf, ifVersion: nil, values: ["books": all]))
                <= Self.rowsMax)
        books.insert(books.removeLast(), at: 5_000)
        books.remove(at: 7_000)
        books.append(try library.insert("Book"))
        #expect(
            try writtenRows(.update(shelf, ifVersion: nil, values: ["books": .objects(books)]))
                <= Self.rowsMax + 3)
        #expect(try library.keys(shelf, "books") == library.keys(books))
    }

    @Test("inserting all objects at one position of a list costs little on average")
    func onePosition() throws {
        let books = try inserted("Book", 2_000)
        let shelf = try library.insert("Shelf", ["books": .objects(Array(books[..<1_000]))])
        let edits = books[1_000...].map {
            RelationshipEdit.add([$0], to: "books", at: .after(books[500]))
        }
        let rows = try writtenRows(.update(shelf, ifVersion: nil, values: [:], edits: edits))
        #expect(rows < 20 * 1_000)
        let expected = books[...500] + books[1_000...].reversed() + books[501..<1_000]
        #expect(try library.keys(shelf, "books") == library.keys(Array(expected)))
    }

    @Test("an edit of an ordered many-to-many costs as much as one pair")
    func manyToMany() throws {
        let readers = try inserted("Reader", 20_000)
        let book = try library.insert("Book", ["readers": .objects(readers)])
        let new = try library.insert("Reader")
        let edits: [RelationshipEdit] = [
            .add([new], to: "readers", at: .before(readers[10_000])),
            .move([readers[3]], in: "readers", to: .after(readers[15_000])),
            .remove([readers[7]], from: "readers"),
        ]
        for edit in edits {
            #expect(try writtenRows(self.edit(book, edit)) <= Self.rowsMax, "\(edit)")
        }
        let late = try library.insert("Reader")
        #expect(
            try writtenRows(edit(late, .add([book], to: "books", at: .first))) <= Self.rowsMax)
        #expect(try library.keys(book, "readers").last == late.permanentKey)
        #expect(try library.keys(book, "readers").firstIndex(of: 20_001) == 9_999 - 1)
    }

    @Test("an edit finds its position in a list by indexes, from both ends and from any item")
    func indexes() throws {
        let schema = try WritingSchema(library.store.layout, library.store.valueConverter)
        var orders: [ListOrder] = []
        for relationship in schema.relationships {
            switch relationship.storage {
            case .own(let column): orders += [column.order].compactMap(\.self)
            case .inverse: continue
            case .join(let table):
                orders += [table.order, table.inverseOrder].compactMap(\.self)
            }
        }
        #expect(orders.count == 15)
        for sql in orders.flatMap({ [$0.last, $0.following, $0.preceding] }) {
            let plan = try library.rows("EXPLAIN QUERY PLAN \(sql)")
            let steps = plan.compactMap { row -> String? in
                if case .text(let step)? = row.last { step } else { nil }
            }
            #expect(steps.count == 1 && steps[0].hasPrefix("SEARCH"), "\(sql.text): \(steps)")
            #expect(steps.allSatisfy { $0.contains("COVERING INDEX") }, "\(sql.text): \(steps)")
        }
    }
}
