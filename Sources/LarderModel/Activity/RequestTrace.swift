/// The id that a client gives a request, such as a W3C traceparent, for lines of the server's log
/// and the list of running requests.
package enum RequestTrace {
    package static let bytesMax = 128

    /// - Parameter bytes: Those of an id; none if the request has no id.
    /// - Throws: `malformedValue` if it is too long, or has other characters than printable ASCII.
    package static func check(_ bytes: some Collection<UInt8>) throws(LarderError) {
        guard bytes.count <= bytesMax else { throw tooLong(byteCount: bytes.count) }
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw LarderError(
                .malformedValue,
                "the trace of the request has other characters than printable ASCII", hint: hint)
        }
    }

    package static func tooLong(byteCount: Int) -> LarderError {
        LarderError(
            .malformedValue,
            "the trace of the request has \(byteCount) bytes; at most \(bytesMax) are allowed",
            hint: hint)
    }

    private static let hint = "send a traceparent, or another short id, or none"
}
