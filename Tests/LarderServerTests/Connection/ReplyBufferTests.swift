import LarderWire
import NIOCore
import Testing

@testable import LarderServer

@Suite("Answers wait in one buffer")
struct ReplyBufferTests {
    private func fill(_ buffer: inout ReplyBuffer, _ byte: UInt8, count: Int = 100) {
        buffer.append(byteCount: count) { $0.initializeMemory(as: UInt8.self, repeating: byte) }
    }

    private func place(of bytes: borrowing ByteBuffer) -> Int {
        bytes.withUnsafeReadableBytes { Int(bitPattern: $0.baseAddress) }
    }

    @Test("they are handed out back to back")
    func backToBack() {
        var buffer = ReplyBuffer()
        fill(&buffer, 1, count: 2)
        fill(&buffer, 2, count: 1)
        #expect(buffer.byteCount == 3)
        #expect(Array(buffer.take().readableBytesView) == [1, 1, 2])
        #expect(buffer.byteCount == 0)
    }

    @Test("memory that was handed out is used again, unless somebody still has it")
    func recycled() {
        var buffer = ReplyBuffer()
        fill(&buffer, 1)
        let first = buffer.take()
        let firstPlace = place(of: first)
        buffer.recycle(consume first)
        fill(&buffer, 2)
        let second = buffer.take()
        #expect(place(of: second) == firstPlace)
        let kept = second
        buffer.recycle(consume second)
        fill(&buffer, 3)
        #expect(place(of: buffer.take()) != firstPlace)
        #expect(kept.readableBytesView.allSatisfy { $0 == 2 })
    }
}
