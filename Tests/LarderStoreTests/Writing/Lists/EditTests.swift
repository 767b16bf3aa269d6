import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("an edit of a list")
struct EditTests {
    private let library: Library
    private let shelf: PersistentIdentifier
    private let books: [PersistentIdentifier]

    init() throws {
        let library = try Library(schema: Lists.schema())
        let books = try (0..<4).map { _ in try library.insert("Book") }
        self.library = library
        self.books = books
        shelf = try library.insert("Shelf", ["books": .objects(Array(books[..<3]))])
    }

    private func edit(_ edits: RelationshipEdit...) -> Change {
        .update(shelf, ifVersion: nil, values: [:], edits: edits)
    }

    private func list() throws -> [Int64] { try library.keys(shelf, "books") }

    @Test("an edit of a list increments the versions of its object and of changed to-ones")
    func versions() throws {
        let result = try library.saved(edit(.add([books[3]], to: "books")))
        #expect(result.updatedVersions == [2])
        #expect(try library.version(shelf) == 2)
        #expect(try library.version(books[3]) == 2)
        try library.saved(edit(.move([books[3]], in: "books", to: .first)))
        #expect(try library.version(shelf) == 3)
        #expect(try library.version(books[3]) == 2)
        // An update increments the version even without effect.
        try library.saved(edit(.add([books[3]], to: "books"), .remove([], from: "books")))
        #expect(try library.version(shelf) == 4)
    }

    @Test(
        "an edit of another property, or with objects of other entities, is rejected",
        arguments: [
            ("shelf", ErrorCode.wrongType), ("nothing", .unknownProperty), ("tags", .wrongType),
        ])
    func wrongProperty(name: String, code: ErrorCode) throws {
        let change = Change.update(
            books[0], ifVersion: nil, values: [:], edits: [.add([shelf], to: name)])
        #expect(try library.refusal(change).code == code)
    }

    @Test("an edit of a list with an attribute, a foreign or an unknown object is rejected")
    func wrongObjects() throws {
        #expect(try library.refusal(edit(.add([], to: "label"))).code == .wrongType)
        let other = try Library(schema: Lists.schema()).insert("Book")
        let removal = edit(.remove([other], from: "books"))
        #expect(try library.refusal(removal).code == .foreignIdentifier)
        let place = RelationshipPosition.before(other)
        #expect(
            try library.refusal(edit(.add([books[3]], to: "books", at: place))).code
                == .foreignIdentifier)
        let nobody = PersistentIdentifier.new("n", "Book")
        #expect(try library.refusal(edit(.add([nobody], to: "books"))).code == .invalidChangeSet)
    }

    @Test("the error of an edit of a list has the list and the missing object in its details")
    func details() throws {
        let error = try library.refusal(edit(.move([books[3]], in: "books", to: .first)))
        let detail = try #require(error.details.first)
        #expect(detail.code == .objectNotFound && detail.change == 0)
        #expect(detail.entityName == "Shelf" && detail.propertyNames == ["books"])
        #expect(detail.uri == books[3].uriRepresentation)
    }

    @Test("a change may have a thousand edits and 65,536 objects, and no more")
    func limits() throws {
        let edits = [RelationshipEdit](
            repeating: .remove([], from: "books"), count: Limits.editsMax)
        try library.saved(.update(shelf, ifVersion: nil, values: [:], edits: edits))
        let refusal = try library.refusal(
            .update(shelf, ifVersion: nil, values: [:], edits: edits + edits.prefix(1)))
        #expect(refusal.code == .resourceExhausted)
        let objects = (0...Limits.editedObjectsMax).map {
            library.identifier("Book", Int64($0) + 9)
        }
        #expect(
            try library.refusal(edit(.remove(objects, from: "books"))).code == .resourceExhausted)
        try library.saved(edit(.remove(objects.dropLast(), from: "books")))
    }

    @Test("an edit by index is rejected once a set has counted too many objects")
    func countedObjects() throws {
        let inserts = (0..<2_100).map { Change.insert(.new("\($0)", "Book"), values: [:]) }
        let all = try library.writer.save([ChangeSet(inserts)])[0].get().inserted
        try library.saved(edit(.add(all, to: "books")))
        func moves(_ count: Int) -> [RelationshipEdit] {
            (0..<count).map { .move([all[$0]], in: "books", to: .index(2_050)) }
        }
        let refusal = try library.refusal(
            .update(shelf, ifVersion: nil, values: [:], edits: moves(980)))
        #expect(refusal.code == .resourceExhausted)
        try library.saved(.update(shelf, ifVersion: nil, values: [:], edits: moves(10)))
        #expect(try list().firstIndex(of: try #require(all[9].permanentKey)) == 2_050)
    }

    @Test("an edit puts an object into its own list, at the end of the range of positions")
    func ownList() throws {
        let readers = try (0..<2).map { _ in try library.insert("Reader") }
        let add = RelationshipEdit.add([readers[1]], to: "friends")
        try library.saved(.update(readers[0], ifVersion: nil, values: [:], edits: [add]))
        let end = ListPosition.range.upperBound
        try library.writer.statements?.connection.execute(
            #"UPDATE "_join.Reader.friends" SET target_position = \#(end)"#)
        let addSelf = RelationshipEdit.add([readers[0]], to: "friends", at: .first)
        try library.saved(.update(readers[0], ifVersion: nil, values: [:], edits: [addSelf]))
        #expect(try library.keys(readers[0], "friends") == library.keys(readers))
        // The list of the other side reaches the end of the range too.
        let third = try library.insert("Reader", ["friends": .objects([readers[1]])])
        #expect(
            try library.keys(readers[1], "friends") == library.keys([readers[0], third]))
    }

    // MARK: - Conflicts

    /// Saves an edit that moves the first object to the end. The caller's base has an old label
    /// and perhaps an old list.
    private func saveStale(
        _ policy: MergePolicy, base: [PersistentIdentifier]? = nil
    ) throws -> Result<SaveResult, LarderError> {
        try library.saved(
            .update(
                shelf, ifVersion: nil, values: ["label": "new"],
                edits: [.add([books[3]], to: "books", at: .first)]))
        var bases: [String: Value] = ["label": "old"]
        if let base { bases["books"] = .objects(base) }
        let change = Change.update(
            shelf, ifVersion: nil, values: [:], base: bases,
            edits: [.move([books[0]], in: "books", to: .last)])
        return library.writer.save([ChangeSet([change], mergePolicy: policy)])[0]
    }

    @Test("an edit is not made under a policy that rejects or skips the change")
    func unmade() throws {
        let before = Array(books[..<3])
        guard case .failure(let error) = try saveStale(.error, base: before) else {
            Issue.record("the change set was saved")
            return
        }
        #expect(error.code == .versionConflict)
        let names = error.details.first?.conflict?.properties.map(\.name)
        #expect(names == ["label", "books"])
        #expect(try saveStale(.rollback).get().merged == [0])
        #expect(try list() == library.keys([books[3], books[0], books[1], books[2]]))
    }

    @Test(
        "an edit is made under callerWins and overwrite, and under storeWins without a base",
        arguments: [MergePolicy.callerWins, .storeWins, .overwrite])
    func made(policy: MergePolicy) throws {
        #expect(try saveStale(policy).get().merged == [0])
        #expect(try list() == library.keys([books[3], books[1], books[2], books[0]]))
        #expect(
            try library.value(shelf, "label") == .text(policy == .overwrite ? "old" : "new"))
    }

    @Test("an edit is skipped under storeWins if the list differs from its base")
    func storeWins() throws {
        _ = try saveStale(.storeWins, base: Array(books[..<3])).get()
        #expect(try list() == library.keys([books[3], books[0], books[1], books[2]]))
    }

    @Test("an edit is made on the base of the list under overwrite")
    func overwrite() throws {
        _ = try saveStale(.overwrite, base: Array(books[..<3])).get()
        #expect(try list() == library.keys([books[1], books[2], books[0]]))
    }

    @Test("an edit is made under callerWins although the stored list differs")
    func callerWins() throws {
        _ = try saveStale(.callerWins, base: Array(books[..<3])).get()
        #expect(try list() == library.keys([books[3], books[1], books[2], books[0]]))
    }

    // MARK: - Inserts

    @Test("an edit in an upsert adds to the list of the updated object")
    func upsert() throws {
        let tag = try library.insert("Tag", ["code": "t", "books": .objects([books[0]])])
        let edits: [RelationshipEdit] = [
            .remove([books[0]], from: "books"), .add([books[1], books[2]], to: "books"),
        ]
        let insert = Change.insert(.new("t", "Tag"), values: ["code": "t"], edits: edits)
        let set = ChangeSet([insert], onUniqueConflict: .upsert)
        #expect(try library.writer.save([set])[0].get().inserted == [tag])
        #expect(try library.keys(tag, "books") == library.keys([books[1], books[2]]))
        let other = Change.insert(.new("u", "Tag"), values: ["code": "u"], edits: edits)
        let result = try library.saved(other)
        #expect(
            try library.keys(result.inserted[0], "books") == library.keys([books[1], books[2]]))
    }

    @Test("a save with edits returns the objects that upserts updated, once each")
    func redirected() throws {
        let tag = try library.insert("Tag", ["code": "t"])
        let new = ["a", "b"].map { PersistentIdentifier.new($0, "Tag") }
        let set = ChangeSet(
            [
                .update(books[0], ifVersion: nil, values: [:], edits: [.add(new, to: "tags")]),
                .insert(new[0], values: ["code": "t"]), .insert(new[1], values: ["code": "t"]),
            ], onUniqueConflict: .upsert)
        #expect(try library.writer.save([set])[0].get().inserted == [tag, tag])
        #expect(try library.keys(books[0], "tags") == library.keys([tag]))
    }
}
