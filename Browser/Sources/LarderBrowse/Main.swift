import ArgumentParser
import BrowserWeb
import Foundation
import Hummingbird
import HummingbirdCore
import LarderClient
import Logging

/// `larder-browse`: a store as pages for a browser on this machine. `docs/browse.md` describes it.
@main
struct LarderBrowse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "larder browse",
        abstract: "Show a store in a browser.",
        discussion: """
            EXAMPLES:
              larder browse --socket /run/larder/school.sock
              larder browse --edit --port 8080
              larder browse --listen /run/user/1000/browse.sock

            Prints the address to open. Its key opens one browser; another address is printed \
            after each use. Only this machine can connect, and a page of another site cannot use \
            the key's session. On a Unix socket there is no key: its permissions are those of \
            your user alone.
            """)

    @Option(help: ArgumentHelp("Socket of the server. Default: LARDER_SOCKET.", valueName: "path"))
    var socket: String?

    @Option(help: "Port on the loopback address; 0 for a free one.")
    var port = 0

    @Option(
        help: ArgumentHelp("Serve the pages on this Unix socket instead.", valueName: "path"))
    var listen: String?

    @Flag(help: "Allow changes. Without it, the pages are read-only.")
    var edit = false

    @Option(help: ArgumentHelp("Name of the store in titles.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Maximum time of a query, in seconds.", valueName: "seconds"))
    var queryTime = 15

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("--port is a number from 0 to 65535")
        }
        guard (1...3_600).contains(queryTime) else {
            throw ValidationError("--query-time is a number of seconds from 1 to 3600")
        }
        guard listen == nil || port == 0 else {
            throw ValidationError("--listen and --port cannot be combined")
        }
    }

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment["LARDER_SOCKET"] ?? ""
        guard let path = socket ?? (environment.isEmpty ? nil : environment) else {
            throw ValidationError("no store given; pass --socket PATH, or set LARDER_SOCKET")
        }
        do {
            try await serve(path)
        } catch let error as LarderError {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            throw ExitCode(error.code == .connectionFailed ? 69 : 1)
        }
    }

    private func serve(_ path: String) async throws {
        let client = try await StoreClient.connect(
            to: path, options: options(timeout: .seconds(queryTime)))
        let hasty = try await StoreClient.connect(to: path, options: options(timeout: .seconds(2)))
        defer {
            client.close()
            hasty.close()
        }
        let access = Access(needsKey: listen == nil)
        let fileName = URL(filePath: path).deletingPathExtension().lastPathComponent
        let browse = Browse(
            client: client, hastyClient: hasty, storeName: name ?? fileName, isEditable: edit,
            access: access)
        let socket = listen
        // The socket is for this user alone from its first moment on.
        if socket != nil { umask(0o177) }
        var logger = Logger(label: "larder-browse") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        let application = Application(
            router: browseRouter(browse),
            configuration: ApplicationConfiguration(
                address: listen.map { .unixDomainSocket(path: $0) }
                    ?? .hostname("127.0.0.1", port: port),
                availableConnectionsDelegate: MaximumAvailableConnections(connectionsMax)),
            onServerRunning: { channel in
                guard socket == nil else { return write("\(socket ?? "")\n") }
                let port = channel.localAddress?.port ?? 0
                browse.port = port
                access.begin { write("http://127.0.0.1:\(port)/key?key=\($0)\n") }
            }, logger: logger)
        try await application.runService()
        if let socket { try? FileManager.default.removeItem(atPath: socket) }
    }

    private func options(timeout: Duration) -> StoreClient.Options {
        var options = StoreClient.Options()
        options.clientName = "larder-browse"
        options.author = ""
        options.requestTimeout = timeout
        // A page says at once that the server does not answer, and is loaded again.
        options.reconnectWait = .seconds(1)
        options.connectTimeout = min(timeout, .seconds(5))
        return options
    }
}

/// Connections of browsers at a time; a page that follows changes has one.
private let connectionsMax = 256

/// Another process may wait for the line, so it is not buffered.
private func write(_ line: String) { FileHandle.standardOutput.write(Data(line.utf8)) }
