import LarderWire
import NIOCore
import Testing

@testable import LarderServer

@Suite("The buffer of replies")
struct ReplyBufferTests {
    private func fill(_ buffer: inout ReplyBuffer, _ byte: UInt8, count: Int = 100) {
        buffer.append(byteCount: count) { $0.initializeMemory(as: UInt8.self, repeating: byte) }
    }

    private func address(of bytes: borrowing ByteBuffer) -> Int {
        bytes.withUnsafeReadableBytes { Int(bitPattern: $0.baseAddress) }
    }

    @Test("the buffer of replies returns its frames in one buffer, in order")
    func backToBack() {
        var buffer = ReplyBuffer()
        fill(&buffer, 1, count: 2)
        fill(&buffer, 2, count: 1)
        #expect(buffer.byteCount == 3)
        #expect(Array(buffer.take().readableBytesView) == [1, 1, 2])
        #expect(buffer.byteCount == 0)
    }

    @Test("the memory of a written buffer of replies is reused unless it is still referenced")
    func recycled() {
        var buffer = ReplyBuffer()
        fill(&buffer, 1)
        let first = buffer.take()
        let firstAddress = address(of: first)
        buffer.recycle(consume first)
        fill(&buffer, 2)
        let second = buffer.take()
        #expect(address(of: second) == firstAddress)
        let kept = second
        buffer.recycle(consume second)
        fill(&buffer, 3)
        #expect(address(of: buffer.take()) != firstAddress)
        #expect(kept.readableBytesView.allSatisfy { $0 == 2 })
    }
}
