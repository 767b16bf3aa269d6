import Chromium
import Foundation
import LarderClient

/// A process of `larder-browse`, which is next to the tests, for a store server. It ends with its
/// last reference.
final class BrowseServer: Sendable {
    /// The address with the key.
    let keyAddress: URL
    private let process: Process

    init(_ store: StoreServer, _ arguments: [String] = [], port: Int = 0) async throws {
        let program = URL(filePath: CommandLine.arguments[0])
            .deletingLastPathComponent().appending(path: "larder-browse")
        process = Process()
        process.executableURL = program
        process.arguments =
            ["--socket", store.socket, "--port", "\(port)", "--name", "library"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let line = await output.firstLine()
        guard let url = URL(string: line), url.port != nil else {
            throw ChromiumError(description: "larder-browse has printed \"\(line)\"")
        }
        keyAddress = url
    }

    deinit { stop() }

    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    func page(_ path: String) -> URL {
        URL(string: path, relativeTo: keyAddress)?.absoluteURL ?? keyAddress
    }
}

/// A filled store, its pages, and a browser that has exchanged the key.
struct OpenedStore: Sendable {
    let store: StoreServer
    let client: StoreClient
    let server: BrowseServer
    let browser: Chromium

    init(_ arguments: [String] = []) async throws {
        store = try await StoreServer()
        client = try await store.connect()
        try await client.fill()
        server = try await BrowseServer(store, arguments)
        browser = try await Chromium()
        try await browser.open(server.keyAddress).shows("Entities")
    }

    func open(_ path: String) async throws -> Window {
        try await browser.open(server.page(path))
    }

    func identifier(_ text: String) throws -> PersistentIdentifier {
        try PersistentIdentifier(text: text, in: client.server.storeIdentifier)
    }
}
