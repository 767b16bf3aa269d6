import ArgumentParser
import FoundationEssentials
import Glibc
import LarderModel
import LarderPrograms

struct ShellCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Execute commands that are typed, with completion and a history.",
        discussion: """
            EXAMPLES:
              larder shell
              larder shell --store school.store
              larder shell < commands

            The lines are the commands of larder without its name: fetch Student --sort name. The \
            value of --where, --having, --until, --unless, --expect, --set, --select, --sort and \
            --group-by needs no quotation marks: it extends to the next option. A line continues \
            on the next one within quotation marks and brackets, and after a backslash. Type help \
            for the shell's own commands.

            After begin, the changes of insert, update and delete are kept until save, which saves \
            them in one transaction; pending shows them, undo drops the last one, discard all of \
            them. Queries do not see them. t:1 is the object that the first pending line inserts.

            Control-C drops a line or ends a command; Control-D leaves the shell. The history is \
            in $XDG_STATE_HOME/larder/history, or ~/.local/state. A line that begins with a space \
            is not added to it.

            Lines from a file or a pipe are executed up to the first one that fails, whose exit \
            status is that of the shell. Empty lines and lines that begin with # are ignored.
            """)

    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let interrupt = try Interrupt()
        let isTyped =
            TerminalText.isTerminal(STDIN_FILENO) && TerminalText.isTerminal(STDOUT_FILENO)
        let shell = Shell(
            try ShellConnection(connection, sharesInput: isTyped))
        // An error of the connection is reported before the first line.
        let schema = try StoreSession.with(connection) { try $0.client.schema() }
        guard isTyped else { return try executeFile(shell) }
        StandardError.write("Type help for help. \(Self.summary(of: schema))\n")
        executeTyped(shell, interrupt)
    }

    private static func summary(of schema: Schema) -> String {
        let names = schema.entities.map(\.name)
        let rest = names.count > 8 ? ", and \(names.count - 8) more" : ""
        return "Entities: \(names.prefix(8).joined(separator: ", "))\(rest)."
    }

    // MARK: Lines of a person

    private func executeTyped(_ shell: Shell, _ interrupt: Interrupt) {
        let completion = ShellCompletion(connection: connection)
        let history = LineHistory(path: Self.historyPath)
        let editor = LineEditor(interrupt: interrupt, history: history) {
            completion.completion(of: $0, word: $1)
        }
        var wasEnd = false
        while !shell.hasEnded {
            switch Self.command(from: editor, shell.prompt) {
            case .line(let text):
                wasEnd = false
                editor.remember(text)
                _ = shell.execute(text)
                // An interrupt ended the command, not the shell.
                if interrupt.take() { StandardError.write("\n") }
            case .interrupted: StandardError.write("\n")
            case .end:
                StandardError.write("\n")
                if !shell.hasPending || wasEnd { return }
                wasEnd = true
                _ = shell.execute(ShellCommandName.exit.rawValue)
            }
        }
    }

    /// A command of one or several lines.
    private static func command(from editor: LineEditor, _ prompt: String) -> LineEditor.Input {
        var text = ""
        var prompt = prompt
        while true {
            let input = editor.read(prompt)
            guard case .line(let line) = input else { return input }
            text += line
            guard ShellWords(text).isUnfinished else { return .line(text) }
            text += "\n"
            prompt = "   ...> "
        }
    }

    /// The file of the history, in a folder that exists; nil if there is none.
    private static var historyPath: String? {
        let home = Environment.value("HOME").map { "\($0)/.local/state" }
        guard let state = Environment.value("XDG_STATE_HOME") ?? home, state.hasPrefix("/") else {
            return nil
        }
        let folder = "\(state)/larder"
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            return nil
        }
        return "\(folder)/history"
    }

    // MARK: Lines of a file

    private func executeFile(_ shell: Shell) throws {
        var reader = LineReader(try InputFile("-"))
        while !shell.hasEnded, let first = try reader.nextFilled() {
            var text = first.text
            var lineCount = 1
            while ShellWords(text).isUnfinished, let line = try reader.next() {
                text += "\n" + line.text
                lineCount += 1
                try checkLength(text, lineCount)
            }
            let status = shell.execute(text)
            guard status == ExitStatus.success.rawValue else {
                StandardError.write("standard input, line \(first.number): stopped\n")
                Glibc.exit(status)
            }
        }
        guard !shell.hasPending else {
            throw LarderError(
                .invalidChangeSet, "the input ends with pending changes, which are not saved",
                hint: "end it with save or discard")
        }
    }

    /// Each line of a command is read again with those before it.
    private static let linesMax = 1_000
    private static let bytesMax = 1 << 20

    private func checkLength(_ text: String, _ lineCount: Int) throws(LarderError) {
        guard lineCount <= Self.linesMax, text.utf8.count <= Self.bytesMax else {
            throw LarderError(
                .resourceExhausted,
                "a command of several lines is longer than the maximum of \(Self.linesMax) lines "
                    + "and \(Self.bytesMax) bytes",
                hint: "look for an open quotation mark or bracket")
        }
    }
}
