import ArgumentParser
import FoundationEssentials
import LarderClient
import LarderModel

/// The store that a command works on: a client, and behind it either a server's socket or a private
/// server for a file. The commands cannot tell which, so both behave the same.
struct OpenStore {
    let client: StoreClient

    var identifier: UUID { client.server.storeIdentifier }

    /// Opens the store that the options name, lends it, and closes it, whatever happens.
    static func with<Result>(
        _ options: GlobalOptions, author: String? = nil, _ body: (OpenStore) throws -> Result
    ) throws -> Result {
        if let path = options.store {
            let server = try PrivateServer(storePath: path, schemaPath: options.schema)
            defer { server.stop() }
            let client = try server.connect(options.clientOptions(author))
            defer { client.close() }
            return try body(OpenStore(client: client))
        }
        guard let path = options.socketPath else {
            throw ValidationError(
                "No store is named: give --socket PATH, set LARDER_SOCKET, or give --store FILE")
        }
        let client = try StoreClient.connect(to: path, options: options.clientOptions(author))
        defer { client.close() }
        return try body(OpenStore(client: client))
    }
}

extension GlobalOptions {
    /// How long a command waits if it is not told.
    private static let timeLimitDefault = Duration.seconds(30)

    var timeLimit: Duration { timeout?.duration ?? Self.timeLimitDefault }

    fileprivate func clientOptions(_ author: String?) -> StoreClient.Options {
        var options = StoreClient.Options()
        options.clientName = "larder"
        options.author = author ?? ""
        options.requestTimeout = timeLimit
        options.connectTimeout = min(options.connectTimeout, timeLimit)
        options.reconnectWait = min(options.reconnectWait, timeLimit)
        return options
    }
}
