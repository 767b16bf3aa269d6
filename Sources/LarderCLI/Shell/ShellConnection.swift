import ArgumentParser
import Glibc
import LarderModel
import LarderPrograms

/// The store that a shell works on, and the processes of its commands.
struct ShellConnection {
    let options: ConnectionOptions
    /// Whether commands may read standard input. Otherwise it has the lines of the shell.
    let sharesInput: Bool

    /// The processes of commands get the socket by their environment.
    init(_ options: ConnectionOptions, sharesInput: Bool) throws {
        self.options = options
        self.sharesInput = sharesInput
        if options.store == nil { setenv(Environment.socket, try options.socketPath(), 1) }
    }

    /// The words of a command of larder with the options of the shell, after the names of the
    /// command, unless the command has them itself.
    func completed(_ words: [String]) -> [String] {
        let (names, command) = LarderCommand.command(named: words)
        guard !words.contains("--store"), !words.contains("--socket"),
            command.map({ CommandDescription($0._dumpHelp()).named("--store") != nil }) == true
        else { return words }
        var added: [String] = []
        if let store = options.store { added += ["--store", store] }
        if let schema = options.schema, options.store != nil { added += ["--schema", schema] }
        if let version = options.schemaVersion { added += ["--schema-version", version] }
        if let timeout = options.timeout { added += ["--timeout", timeout.argument] }
        return names + added + words.dropFirst(names.count)
    }

    /// Runs a command of larder to its end, and returns its exit status.
    func run(_ words: [String]) throws(LarderError) -> Int32 {
        try run("/proc/self/exe", ["larder"] + completed(words))
    }

    /// Runs a command of the system's shell.
    func run(system command: String) throws(LarderError) -> Int32 {
        try run("/bin/sh", ["sh", "-c", command])
    }

    private func run(_ path: String, _ arguments: [String]) throws(LarderError) -> Int32 {
        do throws(SystemError) {
            return try ChildProcess.run(path, arguments, sharesInput: sharesInput)
        } catch {
            throw LarderError(.storageFailed, "cannot execute \(arguments[0]): \(error.text)")
        }
    }
}
