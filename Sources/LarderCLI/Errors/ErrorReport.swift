import ArgumentParser
import LarderModel

/// An error as the user reads it on standard error, and the status it ends the program with.
///
/// As text: `error[CODE]: sentence`, then a predicate with a caret under the column, a line for
/// each fault, and `hint: …`. Under `--output json` and `jsonl`: one JSON object on one line.
struct ErrorReport {
    private let code: String
    private let error: LarderError
    private let format: String?
    let status: Int32
    /// Characters of a format that are shown on each side of the caret.
    private static let excerptReach = 200

    init(_ error: LarderError, format: String? = nil) {
        self.code = error.code.name
        self.error = error
        self.format = format
        self.status = ExitStatus(error.code).rawValue
    }

    /// What the argument parser refused. The code of the inner error is not used.
    init(usage message: String, explanation: String) {
        self.code = "USAGE"
        let lines = explanation.split(separator: "\n").map {
            String($0.drop(while: { $0 == " " }))
        }
        self.error = LarderError(
            .unsupported, message, hint: lines.last, faults: Array(lines.dropLast()))
        self.format = nil
        self.status = ExitStatus.usage.rawValue
    }

    func text(asJSON: Bool) -> String { asJSON ? json : plain }

    private var plain: String {
        var lines = ["error[\(code)]: \(error.message)"]
        if let format, let column = error.column {
            lines += Self.excerpt(of: format, at: column)
        }
        lines += error.faults.map { "  \($0)" }
        if let hint = error.hint { lines.append("hint: \(hint)") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The characters around a column, and a caret under it; `…` where more was left out.
    private static func excerpt(of format: String, at column: Int) -> [String] {
        let shown = format.map { $0.isNewline || $0 == "\t" ? " " : $0 }
        let place = min(max(0, column - 1), shown.count)
        let start = max(0, place - excerptReach)
        let end = min(shown.count, place + excerptReach)
        // An escape is wider than what it stands for.
        let before = (start > 0 ? "…" : "") + EscapedText.escaped(String(shown[start..<place]))
        let behind = EscapedText.escaped(String(shown[place..<end]))
        let indent = String(repeating: " ", count: DisplayWidth.of(before))
        return [
            "  " + before + behind + (end < shown.count ? "…" : ""), "  " + indent + "^",
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
        if !error.faults.isEmpty { members["faults"] = .array(error.faults.map { .string($0) }) }
        if !error.details.isEmpty { members["details"] = .array(error.details.map(\.json)) }
        return JSONValue.object(members).text + "\n"
    }
}
