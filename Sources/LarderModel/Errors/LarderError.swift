public import FoundationEssentials

/// An error with a stable code, a message and, where possible, a hint.
///
/// Messages name entities, attributes and objects but contain no stored values, so they can be
/// logged. Lower layers translate their own errors into this type at their boundary.
public struct LarderError: Error, Hashable, Sendable {
    /// The stable code; see ``ErrorCode``.
    public var code: ErrorCode
    /// One sentence without a final period that describes the problem.
    public var message: String
    /// One sentence that says how to solve the problem; nil if no advice is known.
    public var hint: String?
    /// For an error in a format string: its column, counted in characters from 1.
    public var column: Int?
    /// The URI of the object concerned; nil if there is none.
    public var uri: String?
    /// One sentence per problem, if several were found at once in a schema or a change set. Of
    /// more than ``problemsMax``, the last line has the number of the others.
    public var problems: [String]
    /// The violations of a rejected change set; also set if there is only one.
    public var details: [ChangeViolation]

    public static let problemsMax = 100

    public init(
        _ code: ErrorCode, _ message: String, hint: String? = nil, column: Int? = nil,
        uri: String? = nil, problems: [String] = [], details: [ChangeViolation] = []
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.column = column
        self.uri = uri
        self.problems = Array(problems.prefix(Self.problemsMax))
        let others = problems.count - self.problems.count
        if others > 0 { self.problems.append("and \(others) more") }
        self.details = details
    }
}

extension LarderError {
    /// An error with a single violation.
    public init(_ violation: ChangeViolation, hint: String? = nil) {
        self.init(
            violation.code, violation.message, hint: hint, uri: violation.uri, details: [violation])
    }
}

extension LarderError {
    /// The error with another hint; nil leaves the one that it has.
    package func hinting(_ hint: String?) -> LarderError {
        var hinted = self
        hinted.hint = hint ?? self.hint
        return hinted
    }
}

extension LarderError: CustomStringConvertible {
    /// The form that `larder` prints: `error[CODE]: message`, one indented line per problem, `hint:
    /// …`.
    public var description: String {
        var lines = ["error[\(code.name)]: \(message)"]
        lines += problems.map { "  \($0)" }
        if let hint { lines.append("hint: \(hint)") }
        return lines.joined(separator: "\n")
    }
}

extension LarderError: LocalizedError {
    /// The ``description``, for programs that print `localizedDescription`.
    public var errorDescription: String? { description }
}
