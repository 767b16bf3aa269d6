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
            let shown = String(format.map { $0.isNewline || $0 == "\t" ? " " : $0 })
            let before = DisplayWidth.of(String(shown.prefix(max(0, column - 1))))
            lines.append("  " + EscapedText.escaped(shown))
            lines.append("  " + String(repeating: " ", count: before) + "^")
        }
        lines += error.faults.map { "  \($0)" }
        if let hint = error.hint { lines.append("hint: \(hint)") }
        return lines.joined(separator: "\n") + "\n"
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
