import ArgumentParser
import Glibc
import LarderModel
import LarderPrograms
import LarderQuery

/// An error or a warning as `larder` prints it to standard error, and its exit status.
///
/// As text: `error[CODE]: message`, the predicate with a caret below the column, one line per
/// problem, and `hint: …`; a warning begins with `warning: `. With `--output json` or `jsonl`: one
/// JSON object on one line.
struct ErrorReport {
    private let code: String
    private let error: LarderError
    private let format: String?
    let status: Int32
    /// The number of characters of a format string that are shown on each side of the caret.
    private static let excerptReach = 200

    init(_ error: LarderError, format: String? = nil) {
        self.code = error.code.name
        self.error = error
        self.format = format
        self.status = ExitStatus(error.code).rawValue
    }

    /// A usage error from ArgumentParser. The code of the inner error is not used.
    init(usage message: String, explanation: String) {
        self.code = "USAGE"
        let lines = explanation.split(separator: "\n").map {
            String($0.drop(while: { $0 == " " }))
        }
        self.error = LarderError(
            .unsupported, message, hint: lines.last, problems: Array(lines.dropLast()))
        self.format = nil
        self.status = ExitStatus.usage.rawValue
    }

    /// The report of a usage error with a hint for an option of another program.
    func hinting(_ arguments: [String]) -> ErrorReport {
        guard let known = UsageHint.usage(error.message, arguments) else { return self }
        return ErrorReport(usage: known.message, explanation: known.hint)
    }

    /// - Parameter format: The format string that the warning is about; nil if it is about none.
    init(_ warning: FormatWarning, format: String? = nil) {
        self.code = Self.warningCode
        self.error = LarderError(
            .malformedPredicate, warning.message, hint: warning.hint, column: warning.column)
        self.format = format
        self.status = ExitStatus.success.rawValue
    }

    private static let warningCode = "WARNING"

    /// Prints the report to standard error, with colours on a terminal that has them.
    func print(asJSON: Bool) {
        guard !asJSON, TerminalStyle.isShown(on: STDERR_FILENO) else {
            return StandardError.write(asJSON ? json : plain)
        }
        let lines = TerminalText.shown(plain).split(
            separator: "\n", omittingEmptySubsequences: false)
        StandardError.write(control: lines.map(Self.styled).joined(separator: "\n"))
    }

    private static func styled(_ line: Substring) -> String {
        let styles: [(String, TerminalStyle)] = [
            ("error[", .error), ("warning:", .warning), ("hint:", .hint),
        ]
        guard let (_, style) = styles.first(where: { line.hasPrefix($0.0) }),
            let colon = line.firstIndex(of: ":")
        else { return String(line) }
        return style.applied(to: String(line[...colon])) + line[line.index(after: colon)...]
    }

    private var plain: String {
        let kind = code == Self.warningCode ? "warning" : "error[\(code)]"
        var lines = ["\(kind): \(error.message)"]
        if let format, let column = error.column {
            lines += Self.excerpt(of: format, at: column)
        }
        lines += error.problems.map { "  \($0)" }
        if let hint = error.hint { lines.append("hint: \(hint)") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The text around a column and a caret below it; `…` marks text that is left out.
    private static func excerpt(of format: String, at column: Int) -> [String] {
        let shown = format.map { $0.isNewline || $0 == "\t" ? " " : $0 }
        let caret = min(max(0, column - 1), shown.count)
        let start = max(0, caret - excerptReach)
        let end = min(shown.count, caret + excerptReach)
        // The width is measured after escaping: an escape is wider than its character.
        let before = (start > 0 ? "…" : "") + EscapedText.escaped(String(shown[start..<caret]))
        let after = EscapedText.escaped(String(shown[caret..<end]))
        let indent = String(repeating: " ", count: DisplayWidth.of(before))
        return [
            "  " + before + after + (end < shown.count ? "…" : ""), "  " + indent + "^",
        ]
    }

    private var json: String {
        var members: [String: JSONValue] = [
            "code": .string(code), "message": .string(error.message),
            "status": .integer(Int64(status)),
        ]
        if let hint = error.hint { members["hint"] = .string(hint) }
        if let uri = error.uri { members["uri"] = .string(uri) }
        if let column = error.column { members["column"] = .integer(Int64(column)) }
        if let format { members["format"] = .string(format) }
        if !error.problems.isEmpty {
            members["problems"] = .array(error.problems.map { .string($0) })
        }
        if !error.details.isEmpty { members["details"] = .array(error.details.map(\.json)) }
        return JSONValue.object(members).text + "\n"
    }
}
