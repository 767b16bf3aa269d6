/// A condition that the caller can act on: what is wrong, in a sentence, and what helps.
///
/// Sentences name entity, attribute and object; they carry no stored values, so that they can be
/// logged. Layers below translate their own conditions into this one at their border.
public struct LarderError: Error, Hashable, Sendable {
    /// The stable code; see ``ErrorCode``.
    public var code: ErrorCode
    /// One sentence, without a final full stop, that says what is wrong.
    public var message: String
    /// One sentence that says what helps, if something is known to.
    public var hint: String?
    /// For an error about a part of a format string: its column, from 1, counted in characters.
    public var column: Int?
    /// The object in question, as its URI, if there is one.
    public var uri: String?
    /// Every single fault, where several were found at once (a schema's, a change set's).
    public var faults: [String]

    public init(
        _ code: ErrorCode, _ message: String, hint: String? = nil, column: Int? = nil,
        uri: String? = nil, faults: [String] = []
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.column = column
        self.uri = uri
        self.faults = faults
    }
}

extension LarderError: CustomStringConvertible {
    /// The form that `larder` prints: `error[CODE]: sentence`, a line for each fault, `hint: …`.
    public var description: String {
        var lines = ["error[\(code.name)]: \(message)"]
        lines += faults.map { "  \($0)" }
        if let hint { lines.append("hint: \(hint)") }
        return lines.joined(separator: "\n")
    }
}
