import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("the list editor")
struct ListEditorTests {
    private let library: Library
    private let shelf: ObjectKey
    private let books: [Assignment.Target]

    init() throws {
        let library = try Library(schema: Lists.schema())
        self.library = library
        let books = try (0..<4).map { _ in try library.insert("Book") }
        shelf = try library.object(
            try library.insert("Shelf", ["books": .objects(Array(books[..<3]))]))
        let all = try books.map { try library.target($0) }
        self.books = all
    }

    private func edit(
        _ kind: PlannedEdit.Kind, _ targets: [Assignment.Target]
    ) throws -> PlannedEdit {
        PlannedEdit(
            relationship: try library.relationship("Shelf.books").number, kind: kind,
            targets: targets)
    }

    /// The keys of the books on the shelf after some edits.
    private func list(_ edits: PlannedEdit..., errors: [String] = []) throws -> [SQLValue] {
        try library.withContext { context in
            var editor = ListEditor()
            let links = LinkWriter(context: context, checks: DeferredChecks())
            try editor.apply(edits, to: shelf, links)
            #expect(context.summary == errors)
            return try context.values(
                #"SELECT _id FROM Book WHERE shelf IS NOT NULL ORDER BY "_position.shelf""#)
        }
    }

    private func keys(_ keys: Int64...) -> [SQLValue] { keys.map { .integer($0) } }

    @Test("the list editor adds objects at an insertion point")
    func adds() throws {
        let new = [books[3]]
        #expect(try list(edit(.add(.last), new)) == keys(1, 2, 3, 4))
        #expect(try list(edit(.add(.first), new)) == keys(4, 1, 2, 3))
        #expect(try list(edit(.add(.before(books[1])), new)) == keys(1, 4, 2, 3))
        #expect(try list(edit(.add(.after(books[1])), new)) == keys(1, 2, 4, 3))
        #expect(try list(edit(.add(.index(1)), new)) == keys(1, 4, 2, 3))
        #expect(try list(edit(.add(.index(99)), new)) == keys(1, 2, 3, 4))
    }

    @Test("the list editor removes objects, and ignores those that are not in the list")
    func removes() throws {
        #expect(try list(edit(.remove, [books[1], books[3]])) == keys(1, 3))
    }

    @Test("the list editor moves objects, several in their given order")
    func moves() throws {
        #expect(try list(edit(.move(.first), [books[2]])) == keys(3, 1, 2))
        #expect(try list(edit(.move(.last), [books[1], books[0]])) == keys(3, 2, 1))
    }

    @Test("the list editor applies edits in their order")
    func order() throws {
        #expect(
            try list(edit(.remove, [books[0]]), edit(.add(.first), [books[3]])) == keys(4, 2, 3))
    }

    @Test("the list editor reports an object that is not in the list")
    func absence() throws {
        #expect(
            try list(edit(.move(.first), [books[3]]), errors: ["OBJECT_NOT_FOUND"])
                == keys(1, 2, 3))
        #expect(
            try list(edit(.add(.before(books[3])), [books[3]]), errors: ["OBJECT_NOT_FOUND"])
                == keys(1, 2, 3))
    }

    @Test("the list editor records the change for the history and the other side")
    func records() throws {
        try library.withContext { context in
            var editor = ListEditor()
            let links = LinkWriter(context: context, checks: DeferredChecks())
            try editor.apply([edit(.add(.last), [books[3]])], to: shelf, links)
            let list = try library.relationship("Shelf.books").number
            #expect(
                context.changes.keys(changedIn: .relationship(list), of: shelf.entity)
                    == [shelf.key])
            #expect(context.hasIncrementedVersion(books[3].object))
            #expect(!context.hasIncrementedVersion(shelf))
        }
    }
}
