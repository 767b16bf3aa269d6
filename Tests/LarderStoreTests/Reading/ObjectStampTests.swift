import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

/// The stamp by which a server finds out that an object has not changed since it was read.
@Suite("The stamp of an object")
struct ObjectStampTests {
    private let library: Library
    private let reader: any StoreReader

    init() throws {
        library = try Library()
        reader = try library.store.makeReader()
    }

    private func stamp(_ object: PersistentIdentifier, _ properties: String...) -> ObjectStamp? {
        reader.stamp(of: object, properties: properties)
    }

    private func isCurrent(_ stamp: ObjectStamp?) throws -> Bool {
        library.store.isCurrent(try #require(stamp))
    }

    @Test("the stamp of an object stays while others change, or its change is refused")
    func others() throws {
        let (ann, bob) = (try library.insert("Person"), try library.insert("Person"))
        let parent = stamp(ann, "parent")
        try library.insert("Person")
        try library.saved(.update(bob, ifVersion: nil, values: ["spouse": .null]))
        _ = try library.refusal(.update(ann, ifVersion: 9, values: ["parent": .object(bob)]))
        #expect(try isCurrent(parent))
        #expect(stamp(ann, "parent") == parent)
    }

    @Test("the stamp of an object differs after the object was changed or deleted")
    func changes() throws {
        let category = try library.insert("Category", ["name": .string("tech")])
        let before = stamp(category, "name")
        try library.saved(.update(category, ifVersion: nil, values: ["name": .string("code")]))
        #expect(try !isCurrent(before))
        let after = stamp(category, "name")
        #expect(try isCurrent(after))
        try library.saved(.delete(category, ifVersion: nil))
        #expect(try !isCurrent(after))
    }

    @Test("the stamp of an object differs after an upsert, and after a change by predicate")
    func otherWays() throws {
        let category = try library.insert("Category", ["name": .string("tech")])
        var before = stamp(category, "name")
        let upsert = ChangeSet(
            [.insert(.new("x", "Category"), values: ["name": .string("tech")])],
            onUniqueConflict: .upsert)
        #expect(try library.writer.save([upsert])[0].get().inserted == [category])
        #expect(try !isCurrent(before))
        before = stamp(category, "name")
        try library.saved(
            .updateAll(
                ObjectSelection("Category"), set: [PropertyAssignment("name", to: "code")]))
        #expect(try !isCurrent(before))
    }

    @Test("the stamp of an object differs after its relationship changed from the other side")
    func otherSide() throws {
        let (ann, bob) = (try library.insert("Person"), try library.insert("Person"))
        let before = stamp(ann, "parent")
        try library.saved(.update(bob, ifVersion: nil, values: ["children": .objects([ann])]))
        #expect(try !isCurrent(before))
        let after = stamp(ann, "parent")
        try library.saved(.update(bob, ifVersion: nil, values: ["children": .objects([])]))
        #expect(try !isCurrent(after))
    }

    @Test("the stamp of an object differs after a list changed, or an object in it was deleted")
    func lists() throws {
        let (ann, bob) = (try library.insert("Person"), try library.insert("Person"))
        var before = stamp(ann, "friends")
        try library.saved(.update(bob, ifVersion: nil, values: ["friends": .objects([ann])]))
        #expect(try !isCurrent(before))
        before = stamp(ann, "friends")
        try library.saved(.delete(bob, ifVersion: nil))
        #expect(try !isCurrent(before))
    }

    @Test("a read that fails, or that returns entities of other objects, has no stamp")
    func none() throws {
        let article = try library.insert("Article", ["title": .string("a")])
        #expect(reader.stamp(of: article, properties: nil) != nil)
        #expect(stamp(article, "none") == nil)
        #expect(stamp(.new("x", "Article"), "title") == nil)
        let faculty = try Library(schema: Faculty.schema())
        let tutor = try faculty.insert("Tutor", ["name": "Cyd", "number": 8])
        let reader = try faculty.store.makeReader()
        #expect(reader.stamp(of: tutor, properties: ["name"]) != nil)
        #expect(reader.stamp(of: tutor, properties: nil) == nil)
    }

    @Test("the stamp of an object is not valid while a commit changes the object")
    func transaction() throws {
        let stamps = library.store.stamps
        let before = try #require(stamps.stamp(ofKey: 7))
        let slot = ChangeStamps.slot(ofKey: 7)
        var changed = ChangeStamps.Slots()
        changed.insert(slot)
        changed.insert(slot)
        #expect(stamps.isCurrent(before))
        stamps.commit(&changed) {
            #expect(stamps.stamp(ofKey: 7) == nil && !stamps.isCurrent(before))
        }
        let after = try #require(stamps.stamp(ofKey: 7))
        #expect(!stamps.isCurrent(before))
        #expect(stamps.stamp(ofKey: 7 + Int64(ChangeStamps.slotCount))?.slot == slot)
        // A commit consumes the slots.
        stamps.commit(&changed) {}
        #expect(stamps.isCurrent(after))
    }

    @Test("the stamp of every object differs after the writer has reconnected")
    func reopened() throws {
        let ann = try library.insert("Person")
        let before = stamp(ann, "parent")
        try library.writer.use(try library.store.reopenWriterConnection())
        #expect(try !isCurrent(before))
        #expect(stamp(ann, "parent") != nil)
    }
}
