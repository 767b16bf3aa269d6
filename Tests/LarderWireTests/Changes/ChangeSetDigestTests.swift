import FoundationEssentials
import LarderModel
import LarderWire
import Testing

@Suite("The digest of a change set")
struct ChangeSetDigestTests {
    private let ann = PersistentIdentifier(store: Samples.store, entityName: "Student", key: 1)

    private func insert(_ name: String, _ values: [String: Value]) -> ChangeSet {
        ChangeSet([.insert(PersistentIdentifier(temporary: name, entityName: "A"), values: values)])
    }

    @Test("the digest of a change set is the same in every process")
    func pinned() throws {
        let empty = try ChangeSet().digest()
        #expect(empty == 0xCBF2_9CE4_8422_2325)
        let one = try insert("t", ["name": "Ann", "born": .int(2_001)]).digest()
        #expect(one == 0xD11C_A362_96B8_1786)
    }

    @Test("the digest of a frame with a change set is that of the set")
    func frame() throws {
        var set = insert("t", ["name": "Ann", "born": .int(2_001), "text": .string("é")])
        set.author = "Ann"
        set.idempotencyKey = "k"
        let content = Array(
            try WireTesting.frame(RequestEnvelope(id: 1, request: .save(set)))
                .dropFirst(Frame.lengthBytes))
        #expect(try WireCodec().changeSetDigest(content.span.bytes) == set.digest())
    }

    @Test("the digest of a change set excludes the author, the idempotency key and released keys")
    func sender() throws {
        var set = insert("t", ["name": "Ann"])
        let digest = try set.digest()
        set.author = "Ann"
        set.idempotencyKey = "k"
        set.releasedKeys = ["j", "i"]
        #expect(try set.digest() == digest)
    }

    @Test("the digest of a change set does not depend on the order of an object's properties")
    func order() throws {
        let names = (0..<20).map { "p\($0)" }
        func set(_ names: [String]) -> ChangeSet {
            var values = [String: Value](minimumCapacity: names.first == "p0" ? 0 : 500)
            for name in names { values[name] = .string("value of " + name) }
            return insert("t", values)
        }
        let sets = (set(names), set(names.reversed()))
        #expect(Array(keys(of: sets.0)) != Array(keys(of: sets.1)))
        #expect(try sets.0.digest() == sets.1.digest())
    }

    private func keys(of set: ChangeSet) -> [String] {
        guard case .insert(_, let values, _) = set.changes[0] else { return [] }
        return Array(values.keys)
    }

    @Test("different changes have different digests")
    func differences() throws {
        let update = Change.update(ann, ifVersion: nil, values: ["a": 1])
        let delete = Change.delete(ann, ifVersion: nil)
        let sets = [
            insert("t", [:]), insert("u", [:]), insert("t", ["a": nil]), insert("t", ["b": nil]),
            insert("t", ["a": 0]), insert("t", ["a": false]), insert("t", ["a": ""]),
            insert("t", ["a": "x"]), insert("t", ["a": .data(Data())]),
            insert("t", ["a": .float(0)]), insert("t", ["a": .double(0)]),
            insert("t", ["a": .object(ann)]),
            insert("t", ["a": .objects([ann])]), ChangeSet([delete]), ChangeSet([update]),
            ChangeSet([delete, update]), ChangeSet([update, delete]),
            ChangeSet([.delete(ann, ifVersion: 0)]), ChangeSet([.delete(ann, ifVersion: 1)]),
            ChangeSet([.update(ann, ifVersion: nil, values: ["a": 1], base: ["a": 1])]),
            ChangeSet([update], onUniqueConflict: .upsert),
            ChangeSet([update], mergePolicy: .overwrite),
            ChangeSet([update], mergePolicy: .rollback),
            ChangeSet([update], conditions: [.init(ObjectSelection("A"))]),
            ChangeSet([update], conditions: [.init(ObjectSelection("A"), count: 1)]),
            ChangeSet([update], conditions: [.init(ObjectSelection("B"))]),
        ]
        var digests: Set<UInt64> = []
        for set in sets { digests.insert(try set.digest()) }
        #expect(digests.count == sets.count)
    }
}
