import LarderModel
import LarderWire

/// A stream of frames: the first byte is the length of the pieces in which the stream arrives, less
/// one; the rest is the stream.
///
/// The pieces must not change the frames, and each frame must decode to a message or be rejected.
public struct FrameInput: FuzzedInput {
    public static let name = "frames"

    public init() {}

    public func fault(of bytes: [UInt8]) -> String? {
        guard let first = bytes.first else { return nil }
        let stream = Array(bytes.dropFirst())
        let (contents, isTooLong) = Self.contents(of: stream, pieceBytes: Int(first) + 1)
        let whole = Self.contents(of: stream, pieceBytes: max(1, stream.count))
        guard contents == whole.contents, isTooLong == whole.isTooLong else {
            return "the pieces of the stream change its frames"
        }
        let codec = WireCodec()
        for content in contents {
            if let fault = Self.fault(of: content, codec) { return fault }
        }
        return nil
    }

    /// The contents of the frames, up to one that is too long.
    private static func contents(
        of stream: [UInt8], pieceBytes: Int
    ) -> (contents: [[UInt8]], isTooLong: Bool) {
        var contents: [[UInt8]] = []
        var splitter = FrameSplitter()
        for start in stride(from: 0, to: stream.count, by: pieceBytes) {
            let piece = Array(stream[start..<min(start + pieceBytes, stream.count)])
            splitter.append(piece.span.bytes)
            do throws(LarderError) {
                while let content = try splitter.withNextFrame({ $0.withUnsafeBytes(Array.init) }) {
                    contents.append(content)
                }
            } catch {
                return (contents, true)
            }
        }
        return (contents, false)
    }

    private static func fault(of content: [UInt8], _ codec: WireCodec) -> String? {
        let request = try? codec.decodeRequest(content.span.bytes)
        if let get = GetFrame(content.span.bytes), let request {
            guard get.id == request.id, case .get = request.request else {
                return "a get frame is another request"
            }
        }
        _ = try? codec.decodeReply(content.span.bytes)
        return nil
    }
}
