import Glibc
import LarderModel
import LarderPrograms

/// Shows output that is longer than the window with a program of the user: `PAGER`, or `less`.
///
/// Output is held until it is longer than the window. Then the program is started, and standard
/// output becomes a pipe to it. Shorter output starts no program.
struct Pager {
    private enum State {
        /// Everything is written at once.
        case direct
        case holding
        case running(pid_t)
    }

    private static let programDefault = "less -FRX"
    /// `less` gets these options unless the user has given it others.
    private static let lessOptions = "FRX"

    /// Lines without an end are held to this size only.
    private static let heldBytesMax = 1 << 20

    private let command: String
    private var state = State.holding
    private var held: [UInt8] = []
    private var heldLines = 0

    /// Returns nil if standard output is no terminal that obeys control sequences, or if the user
    /// wants no pager or has none.
    init?() {
        guard StandardOutput.isTerminal, TerminalStyle.isTerminalCapable else { return nil }
        let given = getenv("PAGER").map { String(cString: $0) }
        command = (given ?? Self.programDefault).trimming { $0 == " " }
        guard !command.isEmpty, command != "cat" else { return nil }
        if Self.isMissing(command) {
            if given != nil {
                StandardError.write(
                    "warning: the pager \(EscapedText.escaped(command)) of PAGER was not found\n")
            }
            return nil
        }
    }

    /// Takes output, and returns what is to be written now.
    mutating func passing(_ bytes: [UInt8]) -> [UInt8] {
        guard case .holding = state else { return bytes }
        held += bytes
        let window = TerminalWindow()
        heldLines += Self.lineCount(bytes, columns: window?.columnCount ?? 1)
        guard heldLines >= window?.lineCount ?? 0 || held.count > Self.heldBytesMax else {
            return []
        }
        state = start().map(State.running) ?? .direct
        return takeHeld()
    }

    mutating func takeHeld() -> [UInt8] {
        defer { held = [] }
        return held
    }

    /// Ends the input of the program, and waits until the user has left it.
    mutating func wait() {
        guard case .running(let process) = state else { return }
        state = .direct
        close(STDOUT_FILENO)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        // The shell's statuses for a program that cannot be run.
        if [126, 127].contains(status >> 8 & 0xff) {
            StandardError.write(
                "warning: the pager \(EscapedText.escaped(command)) could not be run\n")
        }
    }

    var isRunning: Bool { if case .running = state { true } else { false } }

    /// The lines of the window that output takes, at least.
    private static func lineCount(_ bytes: [UInt8], columns: Int) -> Int {
        bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast()
            .reduce(0) { count, line in
                let text = String(decoding: line, as: UTF8.self)
                return count + max(1, (DisplayWidth.of(text) + columns - 1) / max(1, columns))
            }
    }

    /// Whether a command is the name of a program that does not exist. The shell finds out about
    /// everything else.
    private static func isMissing(_ command: String) -> Bool {
        guard let name = command.split(separator: " ").first,
            name.allSatisfy({ $0.isLetter || $0.isNumber || "/._-+".contains($0) })
        else { return false }
        if name.contains("/") { return access(String(name), X_OK) != 0 }
        let folders = Environment.value("PATH") ?? "/usr/bin:/bin"
        return !folders.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
    }

    /// Starts the program. Standard output becomes its input.
    private func start() -> pid_t? {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        defer { for end in ends { close(end) } }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        setenv("LESS", Self.lessOptions, 0)
        let started = try? ChildProcess.start("/bin/sh", ["sh", "-c", command]) { actions in
            posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
        }
        guard let process = started else { return nil }
        // The interrupt of the terminal is for the program that shows the output.
        signal(SIGINT, SIG_IGN)
        dup2(ends[1], STDOUT_FILENO)
        return process
    }
}

extension String {
    fileprivate func trimming(where isTrimmed: (Character) -> Bool) -> String {
        var text = self[...]
        while let first = text.first, isTrimmed(first) { text = text.dropFirst() }
        while let last = text.last, isTrimmed(last) { text = text.dropLast() }
        return String(text)
    }
}
