import LarderModel
import TestSupport
import Testing

@testable import LarderWire

@Suite("Change sets are decoded as protobuf-c decodes them")
struct ChangeSetTests {
    private static let values = Samples.values

    private static let identifiers = [Samples.ann, Samples.bob, Samples.new]

    private func body(_ set: ChangeSet) throws -> [UInt8] {
        let buffer = MessageBuffer()
        try buffer.changeSet(set, ProtobufWriter(arena: Arena()))
        return buffer.bytes.array
    }

    private func decoded(_ body: [UInt8]) -> ChangeSet? {
        try? ChangeSet(decoding: body.span.bytes, Arena())
    }

    /// As protobuf-c decodes it; nil if it is rejected.
    private func unpacked(_ body: [UInt8]) -> ChangeSet? {
        guard case .save(let set)? = ProtobufOracle.request(14, body) else { return nil }
        return set
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
        if Bool.random(using: &generator) {
            let condition = Samples.conditionalChanges.conditions.randomElement(using: &generator)
            set.conditions.append(contentsOf: condition.map { [$0] } ?? [])
        }
        if Bool.random(using: &generator) { set.onUniqueConflict = .upsert }
        if Bool.random(using: &generator) { set.author = "Ann é" }
        if Bool.random(using: &generator) { set.idempotencyKey = "k" }
        if Bool.random(using: &generator) { set.releasedKeys = ["j", "i"] }
        set.isDryRun = Bool.random(using: &generator)
        return set
    }

    @Test("a change set with each kind of value is decoded as it was encoded")
    func values() throws {
        for (name, value) in Self.values {
            let set = ChangeSet([.insert(Samples.new, values: [name: value])])
            #expect(decoded(try body(set)) == set)
        }
        #expect(decoded([]) == ChangeSet())
    }

    @Test("a change set with edits, base values, lists and predicates is decoded as it was encoded")
    func others() throws {
        let sets: [ChangeSet] = [
            ChangeSet([.deleteAll(ObjectSelection("Student"))]),
            ChangeSet([.insert(Samples.new, values: ["list": .objects([Samples.ann])])]),
            ChangeSet([
                .insert(Samples.new, values: [:], edits: [.remove([Samples.ann], from: "list")])
            ]),
            ChangeSet([
                .update(Samples.ann, ifVersion: nil, values: [:], base: ["name": .null])
            ]),
            ChangeSet(mergePolicy: .storeWins),
            ChangeSet(conditions: [.init(ObjectSelection("Student"), count: 2)]),
        ]
        for set in sets {
            let bytes = try body(set)
            #expect(decoded(bytes) == set)
            #expect(unpacked(bytes) == set)
        }
    }

    @Test("a random or damaged change set is decoded or rejected as protobuf-c does")
    func damaged() throws {
        var generator = SeededGenerator.fromEnvironment("plain change sets")
        var decodedCount = 0
        for _ in 0..<RandomTesting.iterations() {
            let set = randomSet(&generator)
            let bytes = try body(set)
            #expect(decoded(bytes) == set)
            #expect(unpacked(bytes) == set)
            let damaged = Fuzzing.mutated(
                bytes, donor: try body(randomSet(&generator)), using: &generator)
            guard let read = decoded(damaged) else { continue }
            decodedCount += 1
            #expect(read == unpacked(damaged))
        }
        #expect(decodedCount > 0)
    }
}
