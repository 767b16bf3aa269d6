public import LarderModel

/// A frame that could not be decoded, with the id of its request if that could be read.
public struct WireFailure: Error, Hashable, Sendable {
    /// The request's id; 0 if it could not be read.
    public var requestID: UInt64
    public var error: LarderError

    public init(requestID: UInt64, error: LarderError) {
        self.requestID = requestID
        self.error = error
    }

    /// Whether the stream of frames can no longer be trusted, so that the connection must end:
    /// true if the bytes are not an envelope, false if only the envelope's content is wrong.
    public var isFatal: Bool { error.code == .malformedFrame || error.code == .frameTooLong }
}
