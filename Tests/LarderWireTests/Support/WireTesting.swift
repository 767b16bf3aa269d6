import LarderModel
import LarderWire

/// Encodes and decodes whole frames, and their contents.
enum WireTesting {
    static func frame(_ envelope: RequestEnvelope) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try WireCodec().encode(envelope, into: &bytes)
        return bytes
    }

    static func frame(_ envelope: ReplyEnvelope) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try WireCodec().encode(envelope, into: &bytes)
        return bytes
    }

    /// Decodes a request from its frame, length included.
    static func request(_ frame: [UInt8]) throws(WireFailure) -> RequestEnvelope {
        try request(content: Array(frame.dropFirst(Frame.lengthBytes)))
    }

    static func request(content: [UInt8]) throws(WireFailure) -> RequestEnvelope {
        try WireCodec().decodeRequest(content.span.bytes)
    }

    static func reply(_ frame: [UInt8]) throws(WireFailure) -> ReplyEnvelope {
        try reply(content: Array(frame.dropFirst(Frame.lengthBytes)))
    }

    static func reply(content: [UInt8]) throws(WireFailure) -> ReplyEnvelope {
        try WireCodec().decodeReply(content.span.bytes)
    }

    /// The error with which a content is rejected as a request; nil if it is accepted.
    static func rejection(content: [UInt8]) -> WireFailure? {
        do throws(WireFailure) {
            _ = try request(content: content)
            return nil
        } catch {
            return error
        }
    }

    static func rejectionOfReply(content: [UInt8]) -> WireFailure? {
        do throws(WireFailure) {
            _ = try reply(content: content)
            return nil
        } catch {
            return error
        }
    }
}
