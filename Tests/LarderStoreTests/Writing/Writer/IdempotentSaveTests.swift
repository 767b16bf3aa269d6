import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("a save with an idempotency key")
struct IdempotentSaveTests {
    private let library: Library

    init() throws { library = try Library() }

    private func received(_ set: ChangeSet, digest: UInt64 = 1) -> SaveRequest {
        SaveRequest(set, digest: digest)
    }

    private func save(
        _ key: String, digest: UInt64 = 1, _ changes: Change...
    ) -> Result<SaveResult, LarderError> {
        library.writer.save([received(ChangeSet(changes, idempotencyKey: key), digest: digest)])[0]
    }

    private func tag(_ key: String, digest: UInt64 = 1) -> SaveRequest {
        received(
            ChangeSet([.insert(.new("t", "Tag"), values: [:])], idempotencyKey: key),
            digest: digest)
    }

    /// Fails because an article requires a title.
    private func failing(_ key: String) -> SaveRequest {
        received(
            ChangeSet([.insert(.new("a", "Article"), values: [:])], idempotencyKey: key))
    }

    private func keys() throws -> [String] {
        try library.rows("SELECT key FROM _outcome ORDER BY number").map { row in
            guard case .text(let key) = row[0] else { return "" }
            return key
        }
    }

    @Test("an idempotent save that is sent again does nothing, and returns its first reply")
    func repetition() throws {
        let article = try library.insert("Article", ["title": "old"])
        let collection = try library.insert("Collection")
        try library.insert("Article", ["title": "x", "collection": .object(collection)])
        let set = ChangeSet(
            [
                .insert(.new("a", "Tag"), values: [:]), .insert(.new("b", "Cover"), values: [:]),
                .insert(.new("c", "Tag"), values: [:]), .insert(.new("d", "Tag"), values: [:]),
                .update(
                    article, ifVersion: 7, values: ["title": "new"], base: ["title": "other"]),
                .delete(collection, ifVersion: nil),
            ], mergePolicy: .callerWins, idempotencyKey: "k")
        let first = try library.writer.save([received(set)])[0].get()
        #expect(first.inserted.map(\.permanentKey) == [1, 1, 2, 3])
        #expect(first.updatedVersions == [2] && first.deletedCount == 2 && first.merged == [4])
        let before = try library.contents()
        #expect(try library.writer.save([received(set)])[0].get() == first)
        #expect(try library.contents() == before)
    }

    @Test("an idempotent save returns its first reply, whatever has happened to its objects")
    func laterChanges() throws {
        let insert = Change.insert(.new("c", "Category"), values: ["name": "c"])
        let first = try save("insert", insert).get()
        let update = Change.update(first.inserted[0], ifVersion: 1, values: ["name": "d"])
        let second = try save("update", update).get()
        try library.saved(.delete(first.inserted[0], ifVersion: nil))
        #expect(try save("insert", insert).get() == first)
        #expect(try save("update", update).get() == second)
        #expect(try library.count("Category") == 0)
    }

    @Test("a save under the idempotency key of other changes is rejected")
    func mismatch() throws {
        let first = try library.writer.save([tag("k")])[0].get()
        let before = try library.contents()
        let error = #expect(throws: LarderError.self) {
            try library.writer.save([tag("k", digest: 2)])[0].get()
        }
        #expect(error?.code == .idempotencyMismatch && error?.hint != nil)
        #expect(try library.contents() == before)
        #expect(try library.writer.save([tag("k")])[0].get() == first)
    }

    @Test("an idempotent save that fails leaves its key free")
    func failure() throws {
        let error = #expect(throws: LarderError.self) {
            try library.writer.save([failing("k")])[0].get()
        }
        #expect(error?.code == .missingValue)
        #expect(try library.writer.save([tag("k", digest: 2)])[0].get().inserted.count == 1)
    }

    @Test("an idempotent save that changes nothing is stored too")
    func nothing() throws {
        let category = try library.insert("Category", ["name": "c"])
        let set = ChangeSet(
            [.update(category, ifVersion: 2, values: ["name": "late"])], mergePolicy: .rollback,
            idempotencyKey: "k")
        let first = try library.writer.save([received(set)])[0].get()
        #expect(first.transaction == nil && first.merged == [0])
        // The update would no longer be skipped.
        try library.saved(.update(category, ifVersion: nil, values: ["name": "d"]))
        #expect(try library.writer.save([received(set)])[0].get() == first)
        #expect(try library.value(category, "name") == .text("d"))
    }

    @Test("an idempotent save that is in one group twice is done once")
    func group() throws {
        let outcomes = library.writer.save([
            tag("k"), tag("k"), failing("f"), tag("k", digest: 2), tag("f", digest: 3), tag("f"),
        ])
        let results = outcomes.map { try? $0.get() }
        #expect(results[0] != nil && results[1] == results[0])
        #expect(results[2] == nil && results[3] == nil && results[5] == nil)
        #expect(results[4]?.transaction == 2)
        #expect(try library.count("Tag") == 2)
    }

    @Test("an idempotent save returns the object that an insert updated")
    func upsert() throws {
        let category = try library.insert("Category", ["name": "c"])
        let set = ChangeSet(
            [.insert(.new("c", "Category"), values: ["name": "c"])], onUniqueConflict: .upsert,
            idempotencyKey: "k")
        let first = try library.writer.save([received(set)])[0].get()
        #expect(first.inserted == [category] && first.upserted == [0])
        try library.saved(.delete(category, ifVersion: nil))
        #expect(try library.writer.save([received(set)])[0].get() == first)
        #expect(try library.count("Category") == 0)
    }

    @Test("an idempotent save is found after the store is opened again")
    func reopening() throws {
        let folder = try MemoryFolder()
        func save() throws -> SaveResult {
            let store = try Store.open(path: folder.storePath, schema: Library.schema())
            let writer = try store.makeWriter()
            defer { writer.close() }
            return try writer.save([tag("k")])[0].get()
        }
        let first = try save()
        #expect(try save() == first)
    }

    @Test("an idempotency key of the maximum length is accepted, and one byte more is rejected")
    func keyLength() throws {
        let longest = String(repeating: "é", count: Limits.idempotencyKeyBytesMax / 2)
        let outcomes = library.writer.save([tag(longest), tag(longest + "k"), tag(longest)])
        #expect(try outcomes[0].get() == outcomes[2].get())
        let error = #expect(throws: LarderError.self) { try outcomes[1].get() }
        #expect(error?.code == .resourceExhausted)
    }

    @Test("idempotency keys expire after a day, four at a time as others are stored")
    func age() throws {
        for number in 1...6 { _ = try library.writer.save([tag("\(number)")])[0].get() }
        let past = Int(Date().timeIntervalSinceReferenceDate - Limits.idempotencyKeySecondsMax)
        try library.writer.statements?.connection.execute(
            "UPDATE _outcome SET time = \(past - 10) WHERE number <= 5; "
                + "UPDATE _outcome SET time = \(past + 600) WHERE number = 6")
        _ = try library.writer.save([ChangeSet([.insert(.new("t", "Tag"), values: [:])])])[0].get()
        #expect(try keys().count == 6)
        _ = try library.writer.save([tag("7")])[0].get()
        #expect(try keys() == ["5", "6", "7"])
        _ = try library.writer.save([tag("8")])[0].get()
        #expect(try keys() == ["6", "7", "8"])
        #expect(try library.writer.save([tag("1")])[0].get().inserted.map(\.permanentKey) == [10])
    }

    // MARK: Users

    private func tag(_ key: String, of user: UInt32?, digest: UInt64 = 1) -> SaveRequest {
        var request = tag(key, digest: digest)
        request.source.userIdentifier = user
        return request
    }

    @Test("an idempotency key finds no outcome of another user, and takes none from it")
    func users() throws {
        let first = try library.writer.save([tag("k", of: 1)])[0].get()
        let second = try library.writer.save([tag("k", of: 2)])[0].get()
        let third = try library.writer.save([tag("k", of: nil)])[0].get()
        #expect(Set([first, second, third].map(\.inserted)).count == 3)
        // Other changes under a key of another user are no mismatch.
        #expect(try library.writer.save([tag("k", of: 3, digest: 2)])[0].get() != first)
        #expect(try library.writer.save([tag("k", of: 1)])[0].get() == first)
        #expect(try library.writer.save([tag("k", of: 2)])[0].get() == second)
        #expect(try library.writer.save([tag("k", of: nil)])[0].get() == third)
        #expect(try library.count("Tag") == 4)
    }

    /// Changes the stored outcomes so that the user has as many as it may have.
    private func fill(_ user: UInt32, keptFor seconds: Int) throws {
        for key in ["first", "last"] { _ = try library.writer.save([tag(key, of: user)])[0].get() }
        let time = Int(Date().timeIntervalSinceReferenceDate - Limits.idempotencyKeySecondsMax)
        try library.writer.statements?.connection.execute(
            "UPDATE _outcome SET user_number = \(Limits.idempotencyKeysMax) WHERE key = 'last'; "
                + "UPDATE _outcome SET time = \(time + seconds) WHERE key = 'first'")
    }

    @Test(
        "a save with one key more than a user may have is refused until the oldest one has expired")
    func number() throws {
        try fill(1, keptFor: 600)
        let before = try library.contents()
        let error = #expect(throws: LarderError.self) {
            try library.writer.save([tag("next", of: 1)])[0].get()
        }
        #expect(error?.code == .resourceExhausted)
        #expect(error?.message.contains("kept for a day") == true)
        #expect(try library.contents() == before)
        #expect(try keys() == ["first", "last"])
        // The stored outcomes are still found, and others save.
        #expect(try library.writer.save([tag("first", of: 1)])[0].get().inserted.count == 1)
        #expect(try library.writer.save([tag("next", of: 2)])[0].get().inserted.count == 1)
        #expect(try library.writer.save([tag("", of: 1)])[0].get().inserted.count == 1)
    }

    @Test("a save is accepted again as soon as the oldest key of a user with many has expired")
    func numberAfterDay() throws {
        try fill(1, keptFor: -10)
        #expect(try library.writer.save([tag("next", of: 1)])[0].get().inserted.count == 1)
        #expect(try keys() == ["last", "next"])
    }

    @Test("an idempotency key is not lost to any number of keys of another user")
    func otherUsers() throws {
        let first = try library.writer.save([tag("k", of: 2)])[0].get()
        try fill(1, keptFor: 600)
        let refused = library.writer.save((0..<20).map { tag("key \($0)", of: 1) })
        #expect(refused.allSatisfy { (try? $0.get()) == nil })
        #expect(try library.writer.save([tag("k", of: 2)])[0].get() == first)
    }

    // MARK: Released keys

    private func tag(
        _ key: String, releasing released: [String], of user: UInt32? = nil
    ) -> SaveRequest {
        var request = tag(key, of: user)
        request.changeSet.releasedKeys = released
        return request
    }

    private func save(_ request: SaveRequest) throws -> SaveResult {
        try library.writer.save([request])[0].get()
    }

    @Test(
        "a save that releases keys forgets their outcomes, so that their sets would be saved again")
    func release() throws {
        for key in ["a", "b", "c"] { _ = try save(tag(key)) }
        let fourth = try save(tag("d", releasing: ["c", "unknown", "a"]))
        #expect(try keys() == ["b", "d"])
        #expect(try save(tag("d")) == fourth)
        #expect(try library.count("Tag") == 4)
        #expect(try save(tag("a")).inserted.map(\.permanentKey) == [5])
        // Also without a key of its own, and its own key.
        _ = try save(tag("", releasing: ["a", "b"]))
        _ = try save(tag("e", releasing: ["e"]))
        #expect(try keys() == ["d", "e"])
    }

    @Test("a save that fails, or that was done before, releases no keys")
    func noRelease() throws {
        for key in ["a", "b"] { _ = try save(tag(key)) }
        var request = failing("f")
        request.changeSet.releasedKeys = ["a"]
        #expect(throws: LarderError.self) { try save(request) }
        _ = try save(tag("b", releasing: ["a"]))
        #expect(try keys() == ["a", "b"])
    }

    @Test("a save releases no keys of another user")
    func releaseOfOthers() throws {
        let first = try save(tag("k", of: 1))
        _ = try save(tag("l", releasing: ["k"], of: 2))
        #expect(try save(tag("k", of: 1)) == first)
        #expect(try library.count("Tag") == 2)
    }

    @Test("a user with as many keys as it may have saves if it releases one, and no further ones")
    func releaseAtMaximum() throws {
        try fill(1, keptFor: 600)
        _ = try save(tag("next", releasing: ["last"], of: 1))
        #expect(try keys() == ["first", "next"])
        for number in 1...5 {
            let previous = number == 1 ? "next" : "\(number - 1)"
            _ = try save(tag("\(number)", releasing: [previous], of: 1))
        }
        #expect(throws: LarderError.self) { try save(tag("other", of: 1)) }
        #expect(throws: LarderError.self) {
            try save(tag("other", releasing: ["unknown"], of: 1))
        }
        #expect(try keys() == ["first", "5"])
    }

    @Test("an idempotent save whose stored outcome is damaged is rejected")
    func damage() throws {
        _ = try library.writer.save([tag("k")])[0].get()
        for text in [
            "Tag", "Tag 0", "Tag 2-1", "Tag 1-9223372036854775807", "Tag 1-2-3", "Tag x", "Tag 1**",
            "*",
        ] {
            try library.writer.statements?.connection.execute(
                "UPDATE _outcome SET inserted = \(literal: text)")
            let error = #expect(throws: LarderError.self) {
                try library.writer.save([tag("k")])[0].get()
            }
            #expect(error?.code == .storageFailed, "\(text)")
        }
        #expect(try library.count("Tag") == 1)
    }

    @Test("the whole outcome of an idempotent save is stored")
    func stored() throws {
        let store = UUID()
        func named(_ entityName: String, _ key: Int64) -> PersistentIdentifier {
            PersistentIdentifier(store: store, entityName: entityName, key: key)
        }
        let results = [
            SaveResult(),
            SaveResult(inserted: [named("A", .max)], updatedVersions: [0], transaction: .max),
            SaveResult(
                inserted: [
                    named("A", 1), named("A", 2), named("B", 3), named("B", 2), named("B", 2),
                    named("A", 3), named("A", 4), named("A", 5),
                ], updatedVersions: [2, 0, .max], deletedCount: 9, merged: [0, 999_999],
                upserted: [1, 3, 6, 7]),
            SaveResult(
                affected: [
                    AffectedObjects(count: 3, identifiers: [named("A", 1), named("A", 2)]),
                    AffectedObjects(count: .max),
                ]),
        ]
        for result in results { #expect(StoredOutcome(result).result(store: store) == result) }
        #expect(StoredOutcome(results[2]).inserted == "A 1,A 2*,B 3,B 2*,B 2,A 3,A 4-5*")
        // A new part of the result must be stored too.
        #expect(Mirror(reflecting: SaveResult()).children.count == 7)
    }

    @Test("a stored outcome of an earlier program has no upserts")
    func earlierForm() {
        let store = UUID()
        let stored = StoredOutcome(
            transaction: 4, inserted: "A 1-2,B 3", versions: "2", deleted: 0, merged: "",
            affected: "")
        let inserted = [("A", 1), ("A", 2), ("B", 3)].map { name, key in
            PersistentIdentifier(store: store, entityName: name, key: key)
        }
        #expect(
            stored.result(store: store)
                == SaveResult(inserted: inserted, updatedVersions: [2], transaction: 4))
    }

    @Test("a stored outcome with an upsert among the objects of a bulk change is damaged")
    func damagedBulkChange() {
        let stored = StoredOutcome(
            transaction: 4, inserted: "", versions: "", deleted: 0, merged: "", affected: "1:A 1*")
        #expect(stored.result(store: UUID()) == nil)
    }
}
