import CLarderProto
import LarderModel
import TestSupport
import Testing

@testable import LarderWire

@Suite("Change sets that are read straight from their bytes")
struct PlainChangeSetTests {
    private static let values = Samples.values.filter { sample in
        if case .objects = sample.value { false } else { true }
    }

    private static let identifiers = [Samples.ann, Samples.bob, Samples.new]

    private func body(_ set: ChangeSet) throws -> [UInt8] {
        let bytes = MessageBytes()
        try MessageWriter(arena: Arena()).save(set, into: bytes)
        return Array(bytes.bytes)
    }

    private func plain(_ body: [UInt8]) -> ChangeSet? {
        body.withUnsafeBytes { ChangeSet(plain: $0) }
    }

    /// As protobuf-c reads it; nil where that is refused.
    private func unpacked(_ body: [UInt8]) -> ChangeSet? {
        let arena = Arena()
        return try? body.withUnsafeBytes { (bytes) throws(LarderError) in
            try ChangeSet(arena.unpack(bytes, larder__v1__change_set__unpack))
        }
    }

    private func randomSet(_ generator: inout SeededGenerator) -> ChangeSet {
        var set = ChangeSet()
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let identifier = Self.identifiers.randomElement(using: &generator) ?? Samples.new
            let version = Bool.random(using: &generator) ? Int64(7) : nil
            let values = Dictionary(
                Self.values.shuffled(using: &generator).prefix(3).map { ($0.name, $0.value) },
                uniquingKeysWith: { first, _ in first })
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: set.changes.append(.insert(identifier, values: values))
            case 1: set.changes.append(.update(identifier, ifVersion: version, values: values))
            default: set.changes.append(.delete(identifier, ifVersion: version))
            }
        }
        if Bool.random(using: &generator) { set.onUniqueConflict = .upsert }
        if Bool.random(using: &generator) { set.author = "Ann é" }
        if Bool.random(using: &generator) { set.idempotencyKey = "k" }
        return set
    }

    @Test("hold what was written, with each kind of value that is one")
    func values() throws {
        for (name, value) in Self.values {
            let set = ChangeSet([.insert(Samples.new, values: [name: value])])
            #expect(plain(try body(set)) == set)
        }
        #expect(plain([]) == ChangeSet())
    }

    @Test("are left to protobuf-c where they hold what is seldom there")
    func others() throws {
        let seldom: [ChangeSet] = [
            ChangeSet([.deleteAll(ObjectSelection("Student"))]),
            ChangeSet([.insert(Samples.new, values: ["list": .objects([Samples.ann])])]),
            ChangeSet([
                .insert(Samples.new, values: [:], edits: [.remove([Samples.ann], from: "list")])
            ]),
            ChangeSet([
                .update(Samples.ann, ifVersion: nil, values: [:], base: ["name": .null])
            ]),
            ChangeSet(mergePolicy: .storeWins),
        ]
        for set in seldom {
            let bytes = try body(set)
            #expect(plain(bytes) == nil)
            #expect(unpacked(bytes) == set)
        }
    }

    @Test("are what protobuf-c makes of the same bytes, also of bytes that were damaged")
    func damaged() throws {
        var generator = SeededGenerator.fromEnvironment("plain change sets")
        var plainCount = 0
        for _ in 0..<RandomTesting.iterations() {
            let set = randomSet(&generator)
            let bytes = try body(set)
            #expect(plain(bytes) == set)
            #expect(unpacked(bytes) == set)
            let damaged = Fuzzing.mutated(
                bytes, donor: try body(randomSet(&generator)), using: &generator)
            guard let read = plain(damaged) else { continue }
            plainCount += 1
            #expect(read == unpacked(damaged))
        }
        #expect(plainCount > 0)
    }
}
