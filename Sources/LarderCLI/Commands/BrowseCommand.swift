import ArgumentParser
import FoundationEssentials
import Glibc
import LarderModel
import LarderPrograms

/// `larder browse` executes `larder-browse`, so that `larder` does not contain a server of pages.
struct BrowseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse",
        abstract: "Show a store in a browser.",
        discussion: """
            EXAMPLES:
              larder browse
              larder browse --edit --port 8080
              larder browse --store school.store

            Executes the program larder-browse, which is next to larder or in PATH, with the \
            remaining arguments. `larder-browse --help` lists them: --edit allows changes, --port \
            and --listen say where the pages are. It prints the address to open.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp("Options of larder-browse.", valueName: "option"))
    var arguments: [String] = []

    func run() throws {
        if connection.schema != nil || connection.schemaVersion != nil {
            throw ValidationError(
                "browse shows an existing store with its own schema; leave out --schema and "
                    + "--schema-version")
        }
        var options = arguments
        if let limit = connection.timeout {
            options += ["--query-time", "\(max(1, Int64(clamped: limit.duration / .seconds(1))))"]
        }
        let program = try BrowseProgram(arguments: options)
        guard let store = connection.store else {
            setenv(Environment.socket, try connection.socketPath(), 1)
            throw program.replaceProcess()
        }
        let status = try InProcessServer.serve(store) { socket in
            setenv(Environment.socket, socket, 1)
            return try program.run()
        }
        // The error of larder-browse is printed; its status is that of this program.
        if status != 0 { Glibc.exit(status) }
    }
}

/// The program `larder-browse` with its arguments.
private struct BrowseProgram {
    private static let name = "larder-browse"
    private let path: String
    private let arguments: [String]

    /// - Throws: `unsupported` if it is not installed.
    init(arguments: [String]) throws(LarderError) {
        guard let path = Self.path else {
            throw LarderError(
                .unsupported, "\(Self.name) is not installed",
                hint: "scripts/build larder-browse builds it; put it next to larder or in PATH")
        }
        self.path = path
        self.arguments = arguments
    }

    /// Next to this program, or else in `PATH`.
    private static var path: String? {
        var folders = (Environment.value("PATH") ?? "").split(separator: ":").map(String.init)
        if let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
            let slash = own.lastIndex(of: "/")
        {
            folders.insert(String(own[..<slash]), at: 0)
        }
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Executes the program in place of this process.
    ///
    /// - Returns: why it cannot be executed.
    func replaceProcess() -> LarderError {
        let words = ([Self.name] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        execv(path, words)
        return failure(errno)
    }

    /// Runs the program to its end, and returns its exit status.
    func run() throws(LarderError) -> Int32 {
        // A terminal interrupts both; this process then closes the store after the other one.
        signal(SIGINT, SIG_IGN)
        do throws(SystemError) {
            return try ChildProcess.run(path, [Self.name] + arguments, sharesInput: true)
        } catch {
            throw failure(error.code)
        }
    }

    private func failure(_ code: Int32) -> LarderError {
        LarderError(
            .storageFailed, "\(path) cannot be executed: \(SystemError(code: code).text)")
    }
}
