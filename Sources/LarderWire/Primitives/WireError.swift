internal import LarderModel

// The errors that decoders and encoders throw.

extension LarderError {
    /// The bytes are not a field, or a known field has the wrong wire type.
    static var unreadable: LarderError { .malformed("the message cannot be read") }

    static func malformed(_ message: String) -> LarderError {
        LarderError(.malformedMessage, message)
    }

    static func malformedValue(_ message: String) -> LarderError {
        LarderError(.malformedValue, message)
    }

    /// - Parameter what: The elements, in the plural.
    static func tooMany(_ what: String, _ count: Int, maximum: Int) -> LarderError {
        LarderError(
            .resourceExhausted, "the message has \(count) \(what); at most \(maximum) are allowed")
    }

    /// A message field is present twice. protobuf would merge the two; no encoder writes them.
    static func repeated(_ what: String) -> LarderError {
        malformed("\(what) is present twice")
    }
}
