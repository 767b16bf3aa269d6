import FoundationEssentials
import LarderModel
import TestSupport
import Testing

@testable import LarderWire

@Suite("A change set in parts")
struct ChangeSetPartsTests {
    private func encoded(_ set: ChangeSet) throws -> [UInt8] {
        let buffer = MessageBuffer()
        try buffer.changeSet(set, ProtobufWriter(arena: Arena()))
        return buffer.bytes.array
    }

    private func parts(_ set: ChangeSet) throws -> [[UInt8]] {
        var parts = ChangeSetParts(set)
        var contents: [[UInt8]] = []
        while let part = try parts.next() {
            contents.append(part.content)
            #expect(part.content.count <= ChangeSetParts.bytesMax)
            if part.isLast { break }
        }
        #expect(try parts.next() == nil)
        return contents
    }

    private func decoded(
        _ bytes: [UInt8], changeBytesMax: Int = 64 << 20
    ) throws(LarderError) -> (set: ChangeSet, pieceCount: Int, digest: UInt64) {
        var decoder = ChangeSetDecoder(byteCount: bytes.count, changeBytesMax: changeBytesMax)
        var set = ChangeSet()
        var count = 0
        while let piece = try decoder.next({ Array(bytes[$1..<$1 + $0]) }) {
            set.changes += piece.changes
            set.conditions += piece.conditions
            set.author += piece.author
            set.idempotencyKey += piece.idempotencyKey
            if piece.onUniqueConflict != .error { set.onUniqueConflict = piece.onUniqueConflict }
            count += 1
        }
        return (set, count, decoder.digest)
    }

    private func inserts(_ sizes: [Int]) -> ChangeSet {
        ChangeSet(
            sizes.enumerated().map { number, size in
                .insert(
                    PersistentIdentifier(temporary: "n\(number)", entityName: "Item"),
                    values: ["data": .data(Data(repeating: UInt8(number & 0xFF), count: size))])
            }, onUniqueConflict: .upsert, author: "Ann", idempotencyKey: "k")
    }

    @Test("the parts of a change set are its encoded form, and are decoded as the set")
    func roundTrip() throws {
        var generator = SeededGenerator.fromEnvironment("parts of change sets")
        for _ in 0..<20 {
            let sizes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                Int.random(
                    in: 0...1 << Int.random(in: 0...18, using: &generator), using: &generator)
            }
            let set = inserts(sizes)
            let bytes = try parts(set).flatMap { $0 }
            #expect(try bytes == encoded(set))
            let decoded = try decoded(bytes)
            #expect(decoded.set == set, "seed \(generator.seed)")
            #expect(try decoded.digest == set.digest())
        }
    }

    @Test("a value that is longer than a frame takes several parts, and is decoded as it was")
    func longValue() throws {
        let set = inserts([10, 3 * Limits.frameBytesMax / 2, 10])
        let parts = try parts(set)
        #expect(parts.count >= 6)
        let decoded = try decoded(parts.flatMap { $0 })
        #expect(decoded.set == set && decoded.pieceCount == 3)
    }

    @Test("many small changes are decoded in pieces")
    func smallChanges() throws {
        let set = inserts(Array(repeating: 100, count: 10_000))
        let decoded = try decoded(try parts(set).flatMap { $0 })
        #expect(decoded.set == set && decoded.pieceCount > 4)
    }

    @Test("a change that is longer than an object may be is an error with its index")
    func tooLong() throws {
        let bytes = try encoded(inserts([10, 400_000, 500_000]))
        let error = #expect(throws: LarderError.self) {
            _ = try decoded(bytes, changeBytesMax: 450_000)
        }
        #expect(error?.code == .resourceExhausted && error?.details.map(\.change) == [2])
        #expect(try decoded(bytes, changeBytesMax: 500_100).set.changes.count == 3)
    }

    @Test("an encoded change set that ends within a field is an error")
    func truncated() throws {
        let bytes = try encoded(inserts([3, 300_000]))
        for count in [1, 2, 3, 10, 40, 100, 1_000, 270_000, bytes.count - 1] {
            #expect(throws: LarderError.self, "\(count) bytes") {
                _ = try decoded(Array(bytes.prefix(count)))
            }
        }
    }

    @Test("random bytes are no change set, or one that is decoded")
    func randomBytes() throws {
        var generator = SeededGenerator.fromEnvironment("bytes of change sets")
        let whole = try encoded(inserts([3, 200, 300_000, 5]))
        for _ in 0..<1_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(
                    in: 0..<(chance(&generator) ? 300 : whole.count), using: &generator)
                bytes[index] = .random(in: 0...255, using: &generator)
            }
            _ = try? decoded(bytes, changeBytesMax: 1 << 20)
        }
    }

    private func chance(_ generator: inout SeededGenerator) -> Bool {
        Bool.random(using: &generator)
    }

    @Test("a change set with conditions, versions or changes by predicate has no parts")
    func wholeSetsOnly() throws {
        let object = Samples.ann
        let sets = [
            ChangeSet([.delete(object, ifVersion: 1)]),
            ChangeSet([.deleteAll(ObjectSelection("Item"))]),
            ChangeSet([.update(object, ifVersion: nil, values: [:], base: ["a": .int(1)])]),
            Samples.conditionalChanges,
        ]
        for set in sets {
            let error = #expect(throws: LarderError.self) { _ = try parts(set) }
            #expect(error?.code == .invalidChangeSet)
        }
    }
}
