import LarderModel
import LarderWire
import Testing

@testable import LarderServer

@Suite("Replies that are known by the bytes of their requests")
struct KnownRepliesTests {
    private static let mark = ObjectMark(place: 1, number: 2)

    private func reply(_ number: Int64, bytes: Int = 0) -> EncodedBatches {
        var column = Column(name: "n", kind: .attribute(.int64))
        column.append(integer: number)
        let name = String(repeating: "x", count: bytes)
        return EncodedBatches(
            encoding: [
                Batch(
                    rowCount: 1,
                    identity: Batch.Identity(entityName: name, keys: [1], versions: [1]),
                    columns: [column])
            ])
    }

    private func find(
        _ request: [UInt8], in known: inout KnownReplies, isCurrent: Bool = true
    ) -> EncodedBatches? {
        let found = request.withUnsafeBytes { bytes in
            known.find(bytes) { $0 == Self.mark && isCurrent }
        }
        if case .reply(let reply) = found { return reply }
        return nil
    }

    @Test("are found by all of their bytes, while their mark is current")
    func find() {
        var known = KnownReplies(bytesMax: 10_000)
        let request: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
        known.keep(reply(1), to: request, Self.mark)
        #expect(find(request, in: &known) == reply(1))
        #expect(find(request, in: &known, isCurrent: false) == nil)
        for place in request.indices {
            var other = request
            other[place] += 1
            #expect(find(other, in: &known) == nil)
        }
        #expect(find(Array(request.dropLast()), in: &known) == nil)
        #expect(find(request + [0], in: &known) == nil)
        #expect(find([], in: &known) == nil)
    }

    @Test("are replaced by later ones to the same request")
    func replace() {
        var known = KnownReplies(bytesMax: 10_000)
        known.keep(reply(1), to: [1], Self.mark)
        known.keep(reply(2), to: [1], Self.mark)
        #expect(find([1], in: &known) == reply(2))
    }

    @Test("go when more were kept than there is room for, but for those that are asked for")
    func room() {
        var known = KnownReplies(bytesMax: 4_000)
        for number in 0..<100 {
            known.keep(reply(Int64(number)), to: [UInt8(number)], Self.mark)
            #expect(find([0], in: &known) == reply(0))
        }
        let found = (0..<100).filter { find([UInt8($0)], in: &known) != nil }
        #expect(found.count > 3 && found.count < 40)
        #expect(found.contains(99))
    }

    @Test("are not kept where one takes more than there is room for, or is long")
    func tooLong() {
        var known = KnownReplies(bytesMax: 100_000)
        known.keep(reply(1, bytes: 5_000), to: [1], Self.mark)
        #expect(find([1], in: &known) == nil)
        known.keep(reply(1, bytes: 3_000), to: [1], Self.mark)
        #expect(find([1], in: &known) != nil)
        var none = KnownReplies(bytesMax: 0)
        none.keep(reply(1), to: [1], Self.mark)
        #expect(find([1], in: &none) == nil)
    }

    @Test("are asked for again if they were before, and not too much came between")
    func askedAgain() {
        var known = KnownReplies(bytesMax: 10_000)
        func isAskedAgain(_ number: Int) -> Bool {
            let found = withUnsafeBytes(of: number) { known.find($0) { _ in false } }
            if case .asked = found { return true }
            return false
        }
        #expect(!isAskedAgain(1))
        #expect(isAskedAgain(1))
        for number in 2..<200_000 { _ = isAskedAgain(number) }
        #expect(!isAskedAgain(1))
    }
}
