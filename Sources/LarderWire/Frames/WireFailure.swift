package import LarderModel

/// A frame that could not be decoded, with the id of its request if that could be read.
package struct WireFailure: Error, Hashable, Sendable {
    /// The request's id; 0 if it could not be read.
    package var requestID: UInt64
    package var error: LarderError

    package init(requestID: UInt64, error: LarderError) {
        self.requestID = requestID
        self.error = error
    }

    /// Whether the stream of frames can no longer be trusted, so that the connection must end:
    /// true if the bytes are not an envelope, false if only the envelope's content is wrong.
    package var isFatal: Bool { error.code == .malformedFrame || error.code == .frameTooLong }
}
