import NIOCore
import Testing

@testable import LarderServer

@Suite("Splitting received bytes into frames")
struct FrameBufferTests {
    static let stream: [UInt8] = [0, 0, 0, 3, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 1, 9]

    /// All frames of the stream, which arrives in pieces of this size.
    static func frames(inPiecesOf size: Int) -> [[UInt8]] {
        var buffer = FrameBuffer()
        var frames: [[UInt8]] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            buffer.append(ByteBuffer(bytes: stream[start..<min(start + size, stream.count)]))
            while case .frame(let byteCount) = buffer.start(frameBytesMax: 100) {
                frames.append(
                    buffer.take(byteCount: byteCount) { $0.withUnsafeBytes { Array($0) } })
            }
        }
        return frames
    }

    @Test("the frames do not depend on the size of the pieces", arguments: 1...16)
    func pieces(size: Int) {
        #expect(Self.frames(inPiecesOf: size) == [[1, 2, 3], [], [9]])
    }

    @Test("a frame one byte too long is refused when its length has arrived")
    func tooLong() {
        var buffer = FrameBuffer()
        buffer.append(ByteBuffer(bytes: [0, 0, 0, 101]))
        #expect(buffer.start(frameBytesMax: 101) == .incomplete)
        #expect(buffer.start(frameBytesMax: 100) == .tooLong(byteCount: 101))
    }

    @Test("the length is unsigned")
    func largest() {
        var buffer = FrameBuffer()
        buffer.append(ByteBuffer(bytes: [0xFF, 0xFF, 0xFF, 0xFF]))
        #expect(buffer.start(frameBytesMax: 1 << 24) == .tooLong(byteCount: 4_294_967_295))
    }
}
