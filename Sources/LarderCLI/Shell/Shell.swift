import ArgumentParser
import Glibc
import LarderModel
import LarderPrograms

/// Executes the lines of `larder shell`.
///
/// A command of larder is a process of its own: it can be interrupted, uses the pager and prints
/// as it does elsewhere. Only the commands whose changes are pending run in this process.
final class Shell {
    private let connection: ShellConnection
    private var pending: PendingChanges?
    private(set) var hasEnded = false

    init(_ connection: ShellConnection) { self.connection = connection }

    var hasPending: Bool { pending?.isEmpty == false }

    /// The prompt. A star means that changes are pending.
    var prompt: String { pending == nil ? "larder> " : "larder*> " }

    /// Executes a line, and returns its exit status.
    func execute(_ text: String) -> Int32 {
        do {
            switch ShellLine(text) {
            case .empty: return ExitStatus.success.rawValue
            case .system(let command): return try connection.run(system: command)
            case .larder(let words): return try run(words, text)
            case .shell(let name, let arguments): return try run(name, arguments)
            }
        } catch {
            return LarderCommand.report(error)
        }
    }

    // MARK: Commands of larder

    private func run(_ words: [String], _ text: String) throws -> Int32 {
        guard words.first != ShellCommand.configuration.commandName else {
            throw UsageFailure(message: "this is the shell", hint: "type help")
        }
        if let pending {
            let command = try LarderCommand.parse(connection.completed(words))
            if let command = command as? any PendingCommand {
                try collect(command, text, in: pending)
                return ExitStatus.success.rawValue
            }
        }
        return try connection.run(words)
    }

    private func collect(
        _ command: any PendingCommand, _ text: String, in pending: PendingChanges
    ) throws {
        let count = pending.lines.count
        try pending.collect(text, author: command.author) {
            try StoreSession.with(command.connection) { session in
                var session = session
                session.pending = pending
                try command.run(session)
            }
        }
        guard pending.lines.count > count, let line = pending.lines.last else { return }
        try print("pending: line \(pending.lines.count)" + (line.name.map { ", \($0)" } ?? ""))
    }

    // MARK: Commands of the shell

    private func run(_ name: ShellCommandName, _ arguments: [String]) throws -> Int32 {
        switch name {
        case .help: return try help(arguments)
        case .output: try setOutput(arguments)
        case .timing: try setTiming(arguments)
        default:
            guard arguments.isEmpty else {
                throw UsageFailure(
                    message: "\(name.rawValue) takes no arguments", hint: "type help")
            }
            try run(name)
        }
        return ExitStatus.success.rawValue
    }

    private func run(_ name: ShellCommandName) throws {
        switch name {
        case .begin:
            guard pending == nil else {
                throw UsageFailure(
                    message: "changes are pending already", hint: "type save or discard")
            }
            pending = PendingChanges()
        case .save: try save(existing())
        case .discard:
            _ = try existing()
            pending = nil
        case .pending:
            for (index, line) in try existing().lines.enumerated() {
                try print("\(index + 1)  \(line.text)" + (line.name.map { "  (\($0))" } ?? ""))
            }
        case .undo:
            guard let line = try existing().removeLast() else {
                throw UsageFailure(message: "no changes are pending", hint: "type help")
            }
            try print("dropped: \(line.text)")
        case .exit:
            guard !hasPending else {
                throw UsageFailure(
                    message: "changes are pending", hint: "type save or discard before")
            }
            hasEnded = true
        case .output, .timing, .help: break
        }
    }

    private func existing() throws -> PendingChanges {
        guard let pending else {
            throw UsageFailure(message: "no changes are pending", hint: "type begin")
        }
        return pending
    }

    private func save(_ pending: PendingChanges) throws {
        guard !pending.isEmpty else {
            self.pending = nil
            return
        }
        let changes = pending.changes
        let result = try StoreSession.with(connection.options) { session in
            do {
                return try session.client.save(changes)
            } catch let error as LarderError {
                throw pending.lineNumbers.locating(error) ?? error
            }
        }
        self.pending = nil
        let names = changes.changes.compactMap(\.temporaryName)
        var writer = OutputOption.preferred.makeWriter()
        try writer.write(
            all: zip(names, result.inserted).map { [$0, .object($1)] },
            names: ["@temporary", "@id"])
    }

    private func setOutput(_ arguments: [String]) throws {
        let current = Environment.value(Environment.output)
        guard let name = arguments.first else {
            return try print("output: \(OutputOption.preferred.rawValue)")
        }
        guard arguments.count == 1, let format = OutputFormat(rawValue: name) else {
            let formats = OutputFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageFailure(
                message: "the output format is not known", hint: "the formats are \(formats)")
        }
        // \x twice is a table again.
        let isToggled = format == .vertical && current == name
        setenv(Environment.output, isToggled ? OutputFormat.table.rawValue : name, 1)
        try print("output: \(OutputOption.preferred.rawValue)")
    }

    private func setTiming(_ arguments: [String]) throws {
        let isOn: Bool
        switch arguments {
        case []: isOn = Environment.value(Environment.timing) == nil
        case ["on"]: isOn = true
        case ["off"]: isOn = false
        default: throw UsageFailure(message: "write timing on or timing off", hint: "type help")
        }
        setenv(Environment.timing, isOn ? "1" : "", 1)
        try print("timing: \(isOn ? "on" : "off")")
    }

    private func help(_ arguments: [String]) throws -> Int32 {
        guard arguments.isEmpty else { return try connection.run(["help"] + arguments) }
        let commands = ShellCommandName.allCases.map { ($0.syntax, $0.summary) }
        let others = [("!COMMAND", "execute a command of the system's shell")]
        let forms = ShellLine.shortForms.sorted { $0.key < $1.key }
            .map { ($0.key, $0.value.joined(separator: " ")) }
        var text = "Type a command of larder: \(LarderCommand.names.joined(separator: ", ")).\n"
        let parts = [("The shell's own commands", commands + others), ("Short forms", forms)]
        for (title, rows) in parts {
            text += "\n\(title):\n"
            let width = rows.map(\.0.count).max() ?? 0
            for (name, summary) in rows {
                let space = String(repeating: " ", count: width - name.count + 2)
                text += "  \(name)\(space)\(summary)\n"
            }
        }
        text +=
            "\nAn option with a predicate needs no quotation marks:\n"
            + "  fetch Article --where wordCount > 100 AND title BEGINSWITH \"A\" --sort title\n"
        try print(text, terminator: "")
        return ExitStatus.success.rawValue
    }

    private func print(_ text: String, terminator: String = "\n") throws {
        var output = StandardOutput()
        try output.write(text + terminator)
        try output.flush()
    }
}
