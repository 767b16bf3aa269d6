import Testing

@testable import LarderPostgres

@Suite("The keys that a writer takes")
final class KeyBlocksTests {
    /// Takes blocks of 100 keys from a sequence that others use too.
    private struct Sequence {
        var last: Int64 = 0

        mutating func take(_ count: Int64) -> ClosedRange<Int64> {
            let first = last + 1
            last += (count + 99) / 100 * 100
            return first...last
        }
    }

    private var blocks = KeyBlocks(entityCount: 1)
    private var sequence = Sequence()

    private func reserve(_ count: Int64) {
        blocks.reserve(count, of: 0) { count throws(Never) in sequence.take(count) }
    }

    @Test("the keys of a writer that is alone follow each other, across blocks too")
    func alone() {
        reserve(1)
        #expect(blocks.lastKeys == [0])
        blocks.use([60])
        reserve(250)
        #expect(blocks.lastKeys == [60])
        #expect(sequence.last == 400)
        reserve(250)
        #expect(sequence.last == 400)
    }

    @Test("keys that another writer has taken in between leave a gap, and none is taken twice")
    func shared() {
        reserve(1)
        blocks.use([90])
        _ = sequence.take(1)
        reserve(20)
        #expect(blocks.lastKeys == [200])
        blocks.use([220])
        _ = sequence.take(1)
        reserve(150)
        #expect(blocks.lastKeys == [500])
        #expect(sequence.last == 700)
    }

    @Test("the keys of a set that failed are free again, but not those before another block")
    func restored() {
        reserve(10)
        let before = blocks
        blocks.use([10])
        blocks.restore(before)
        #expect(blocks.lastKeys == [0])
        _ = sequence.take(1)
        reserve(150)
        blocks.use([400])
        blocks.restore(before)
        #expect(blocks.lastKeys == [300])
    }
}
