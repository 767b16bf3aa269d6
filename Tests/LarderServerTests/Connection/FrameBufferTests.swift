import NIOCore
import Testing

@testable import LarderServer

@Suite("Splitting received bytes into frames")
struct FrameBufferTests {
    static let stream: [UInt8] = [0, 0, 0, 3, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 1, 9]

    /// All frames of the stream, which arrives in pieces of this size.
    static func frames(inPiecesOf size: Int) -> [[UInt8]] {
        var buffer = FrameBuffer(shortBytesMax: 100)
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

    @Test("received frames do not depend on the size of the pieces", arguments: 1...16)
    func pieces(size: Int) {
        #expect(Self.frames(inPiecesOf: size) == [[1, 2, 3], [], [9]])
    }

    @Test("a received frame one byte too long is refused when its length has arrived")
    func tooLong() {
        var buffer = FrameBuffer(shortBytesMax: 100)
        buffer.append(ByteBuffer(bytes: [0, 0, 0, 101]))
        let starts = [buffer.start(frameBytesMax: 100), buffer.start(frameBytesMax: 101)]
        #expect(starts == [.tooLong(byteCount: 101), .incomplete])
    }

    @Test("the length of a received frame is unsigned")
    func largest() {
        var buffer = FrameBuffer(shortBytesMax: 100)
        buffer.append(ByteBuffer(bytes: [0xFF, 0xFF, 0xFF, 0xFF]))
        let start = buffer.start(frameBytesMax: 1 << 24)
        #expect(start == .tooLong(byteCount: 4_294_967_295))
    }

    /// Two long frames around a short one, which arrive in pieces of this size.
    @Test("long frames are collected in pieces", arguments: [1, 7, 100, 1_000, 200_000])
    func long(size: Int) {
        let contents = [150_000, 3, 200_001].map { count in
            (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        }
        let stream = contents.flatMap { content in
            withUnsafeBytes(of: UInt32(content.count).bigEndian) { Array($0) } + content
        }
        var buffer = FrameBuffer(shortBytesMax: 100)
        var frames: [[UInt8]] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            buffer.append(ByteBuffer(bytes: stream[start..<min(start + size, stream.count)]))
            while case .frame(let byteCount) = buffer.start(frameBytesMax: 1 << 20) {
                frames.append(
                    byteCount > 100
                        ? Array(buffer.takeLong(byteCount: byteCount).join().readableBytesView)
                        : buffer.take(byteCount: byteCount) { $0.withUnsafeBytes { Array($0) } })
            }
        }
        #expect(frames == contents)
        #expect(buffer.byteCount == 0)
    }

    @Test("the bytes of an incomplete long frame are counted")
    func incomplete() {
        var buffer = FrameBuffer(shortBytesMax: 100)
        buffer.append(ByteBuffer(bytes: [0, 1, 0, 0, 1, 2]))
        let isIncomplete = buffer.start(frameBytesMax: 1 << 20) == .incomplete
        buffer.append(ByteBuffer(bytes: [3, 4, 5]))
        #expect(isIncomplete && buffer.byteCount == 5)
        buffer.discardAll()
        #expect(buffer.byteCount == 0)
    }
}
