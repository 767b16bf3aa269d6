public import LarderModel

/// Turns frames' bytes into messages and back. One a connection, used from one thread at a time:
/// it owns the arena into which messages are unpacked.
public final class WireCodec {
    public init() {}

    /// Decodes the bytes of one frame, without its length.
    public func decodeRequest(
        _ frame: UnsafeRawBufferPointer
    ) throws(WireFailure) -> RequestEnvelope {
        throw WireFailure(requestID: 0, error: LarderError(.unsupported, "not written yet"))
    }

    public func decodeReply(_ frame: UnsafeRawBufferPointer) throws(WireFailure) -> ReplyEnvelope {
        throw WireFailure(requestID: 0, error: LarderError(.unsupported, "not written yet"))
    }

    /// Appends one whole frame, length included, to the sink.
    ///
    /// - Throws: `frameTooLong` if it would exceed `Limits.frameBytesMax`; the sink is untouched.
    public func encode(
        _ envelope: RequestEnvelope, into sink: inout some FrameSink
    ) throws(LarderError) {}

    public func encode(
        _ envelope: ReplyEnvelope, into sink: inout some FrameSink
    ) throws(LarderError) {}
}

/// A frame that could not be decoded, and as much as is known of whose it was.
public struct WireFailure: Error, Hashable, Sendable {
    /// The request's id, if it could be read; otherwise 0.
    public var requestID: UInt64
    public var error: LarderError

    public init(requestID: UInt64, error: LarderError) {
        self.requestID = requestID
        self.error = error
    }

    /// Whether the stream of frames can no longer be trusted, so that the connection must end:
    /// true for bytes that are no envelope, false for an envelope whose content is wrong.
    public var isFatal: Bool { error.code == .malformedFrame || error.code == .frameTooLong }
}

/// Where encoded frames go: a byte array, or a network buffer.
public protocol FrameSink {
    /// Appends `byteCount` bytes that the closure fills in, all of them.
    mutating func append(byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void)
}

/// The shape of a query, apart from its values.
public enum QueryCoding {
    /// Encodes a query. Constants in its trees are lifted out: they follow the arguments that the
    /// parameters already hold, and the shape refers to them by place.
    public static func encode(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> (shape: [UInt8], parameters: QueryParameters) {
        throw LarderError(.unsupported, "not written yet")
    }

    public static func decode(_ shape: [UInt8]) throws(LarderError) -> Query {
        throw LarderError(.unsupported, "not written yet")
    }
}
