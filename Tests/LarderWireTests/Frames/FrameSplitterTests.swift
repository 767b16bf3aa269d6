import LarderModel
import TestSupport
import Testing

@testable import LarderWire

@Suite("A stream of bytes is split into frames")
struct FrameSplitterTests {
    /// Appends the pieces one after the other and returns every whole frame.
    private func frames(
        of pieces: [[UInt8]], _ splitter: inout FrameSplitter
    ) throws(LarderError) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        for piece in pieces {
            splitter.append(piece.span.bytes)
            while let frame = try splitter.withNextFrame({ $0.array }) { frames.append(frame) }
        }
        return frames
    }

    private func rejection(of bytes: [UInt8], frameBytesMax: Int) -> LarderError? {
        var splitter = FrameSplitter(frameBytesMax: frameBytesMax)
        do throws(LarderError) {
            _ = try frames(of: [bytes], &splitter)
            return nil
        } catch {
            return error
        }
    }

    private func allFrames() throws -> [[UInt8]] {
        try Samples.requests().map {
            try WireTesting.frame(RequestEnvelope(id: 1, request: $0.request))
        } + Samples.replies.map { try WireTesting.frame(ReplyEnvelope(id: 1, reply: $0.reply)) }
    }

    @Test("frames split at any byte are returned whole")
    func splitAtEachByte() throws {
        for frame in try allFrames() {
            let stream = frame + frame
            for offset in 0...stream.count {
                var splitter = FrameSplitter()
                let found = try frames(
                    of: [Array(stream[..<offset]), Array(stream[offset...])], &splitter)
                #expect(found == [Array(frame.dropFirst(4)), Array(frame.dropFirst(4))])
                #expect(splitter.bufferedByteCount == 0)
            }
        }
    }

    @Test("frames that arrive byte by byte, or all at once, are returned in order")
    func extremes() throws {
        let all = try allFrames()
        let contents = all.map { Array($0.dropFirst(4)) }
        var splitter = FrameSplitter()
        #expect(try frames(of: all.flatMap { $0 }.map { [$0] }, &splitter) == contents)
        #expect(try frames(of: [all.flatMap { $0 }], &splitter) == contents)
    }

    @Test("frames split at random are returned in order")
    func random() throws {
        var generator = SeededGenerator.fromEnvironment("frame splitter")
        let all = try allFrames()
        let stream = all.flatMap { $0 }
        for _ in 0..<max(1, RandomTesting.iterations() / 100) {
            var splitter = FrameSplitter()
            var pieces: [[UInt8]] = []
            var rest = stream[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 0...900, using: &generator))
                pieces.append(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            #expect(try frames(of: pieces, &splitter) == all.map { Array($0.dropFirst(4)) })
        }
    }

    @Test("a frame of the maximum length is accepted, and one byte more is rejected")
    func longest() {
        #expect(rejection(of: [0, 0, 0, 5, 1, 2, 3, 4, 5], frameBytesMax: 5) == nil)
        #expect(rejection(of: [0, 0, 0, 6], frameBytesMax: 5)?.code == .frameTooLong)
    }

    @Test("a frame length beyond the maximum is rejected before the content arrives")
    func hugeLengths() {
        for bytes: [UInt8] in [[0x80, 0, 0, 0], [255, 255, 255, 255], [0x7f, 255, 255, 255]] {
            let rejected = rejection(of: bytes, frameBytesMax: Limits.frameBytesMax)
            #expect(rejected?.code == .frameTooLong)
        }
        let over = UInt32(Limits.frameBytesMax + 1)
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: over >> (24 - $0 * 8)) }
        #expect(rejection(of: bytes, frameBytesMax: Limits.frameBytesMax)?.code == .frameTooLong)
    }

    @Test("a frame of length 0 is returned empty, and is not an envelope")
    func empty() throws {
        var splitter = FrameSplitter()
        #expect(try frames(of: [[0, 0, 0, 0]], &splitter) == [[]])
        let rejected = WireTesting.rejection(content: [])
        #expect(rejected?.error.code == .malformedFrame)
        #expect(rejected?.isFatal == true)
    }

    @Test("the maximum length of frames can change between two frames")
    func changedLimit() throws {
        var splitter = FrameSplitter(frameBytesMax: 2)
        #expect(try frames(of: [[0, 0, 0, 2, 1, 2]], &splitter) == [[1, 2]])
        splitter.frameBytesMax = 3
        #expect(try frames(of: [[0, 0, 0, 3, 1, 2, 3]], &splitter) == [[1, 2, 3]])
    }

    @Test("a frame is consumed even if the closure throws")
    func throwingReader() throws {
        var splitter = FrameSplitter()
        let bytes: [UInt8] = [0, 0, 0, 1, 7, 0, 0, 0, 1, 8]
        splitter.append(bytes.span.bytes)
        #expect(throws: LarderError.self) {
            try splitter.withNextFrame { (_) throws(LarderError) -> UInt8 in
                throw LarderError(.timeout, "too slow")
            }
        }
        #expect(try splitter.withNextFrame { $0[0] } == 8)
        #expect(try splitter.withNextFrame { $0[0] } == nil)
    }
}
