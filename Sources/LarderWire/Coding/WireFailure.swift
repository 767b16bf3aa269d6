public import LarderModel

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
