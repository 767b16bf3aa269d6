import LarderModel
import LarderWire

/// The bytes of whole frames, and of their contents.
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

    /// What a request's frame, length included, decodes to.
    static func request(_ frame: [UInt8]) throws(WireFailure) -> RequestEnvelope {
        try request(content: Array(frame.dropFirst(Frame.lengthBytes)))
    }

    static func request(content: [UInt8]) throws(WireFailure) -> RequestEnvelope {
        try content.withUnsafeBufferPointer { (bytes) throws(WireFailure) in
            try WireCodec().decodeRequest(UnsafeRawBufferPointer(bytes))
        }
    }

    static func reply(_ frame: [UInt8]) throws(WireFailure) -> ReplyEnvelope {
        try reply(content: Array(frame.dropFirst(Frame.lengthBytes)))
    }

    static func reply(content: [UInt8]) throws(WireFailure) -> ReplyEnvelope {
        try content.withUnsafeBufferPointer { (bytes) throws(WireFailure) in
            try WireCodec().decodeReply(UnsafeRawBufferPointer(bytes))
        }
    }

    /// The condition with which a content is refused as a request; nil if it is taken.
    static func refusal(content: [UInt8]) -> WireFailure? {
        do throws(WireFailure) {
            _ = try request(content: content)
            return nil
        } catch {
            return error
        }
    }

    static func refusalOfReply(content: [UInt8]) -> WireFailure? {
        do throws(WireFailure) {
            _ = try reply(content: content)
            return nil
        } catch {
            return error
        }
    }
}
