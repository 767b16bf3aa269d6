/// A line of `larder shell` by its kind.
enum ShellLine: Equatable {
    case empty
    /// A command of the shell itself.
    case shell(ShellCommandName, [String])
    /// A command of `larder`, as its words.
    case larder([String])
    /// A command for the shell of the system.
    case system(String)

    init(_ text: String) {
        let trimmed = text.drop { $0.isWhitespace }
        if trimmed.first == "!" {
            self = .system(String(trimmed.dropFirst()))
            return
        }
        var words = trimmed.first == "#" ? [] : ShellWords(text).words
        if let first = words.first, let meant = Self.shortForms[first] {
            words.replaceSubrange(0..<1, with: meant)
        }
        guard let first = words.first else {
            self = .empty
            return
        }
        let rest = Array(words.dropFirst())
        // `save FILE` is the command of larder.
        if let name = ShellCommandName(rawValue: first), name != .save || rest.isEmpty {
            self = .shell(name, rest)
        } else {
            self = .larder(words)
        }
    }

    /// The forms that users of psql know.
    static let shortForms: [String: [String]] = [
        "\\d": ["schema", "show"], "\\q": ["exit"], "\\x": ["output", "vertical"],
        "\\timing": ["timing"], "\\?": ["help"], "quit": ["exit"],
    ]
}

/// The commands of the shell itself, with what `help` says about them.
enum ShellCommandName: String, CaseIterable {
    case begin, save, discard, pending, undo, output, timing, help, exit

    var syntax: String {
        switch self {
        case .output: "output [FORMAT]"
        case .timing: "timing [on|off]"
        case .help: "help [COMMAND]"
        default: rawValue
        }
    }

    var summary: String {
        switch self {
        case .begin: "keep the changes of insert, update, delete and save FILE until save"
        case .save: "save the pending changes in one transaction"
        case .discard: "drop the pending changes"
        case .pending: "show the pending changes"
        case .undo: "drop the last pending line"
        case .output: "set the output format: table, vertical, plain, json, jsonl or csv"
        case .timing: "show how long each command takes"
        case .help: "show this help, or that of a command of larder"
        case .exit: "leave the shell, as Control-D does"
        }
    }
}
