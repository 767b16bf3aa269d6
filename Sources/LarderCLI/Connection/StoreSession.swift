import ArgumentParser
import FoundationEssentials
import LarderClient
import LarderModel

/// The connection of one command to its store.
///
/// The client talks to a server's socket, or to a server in this process for a store file.
/// Commands use both in the same way, with the same results.
struct StoreSession {
    let client: StoreClient
    /// The changes that `larder shell` keeps until they are saved together; nil elsewhere.
    var pending: PendingChanges?

    var storeIdentifier: UUID { client.server.storeIdentifier }

    /// The identifier of a URI or a short identifier, with today's name of the entity. A store that
    /// was migrated knows objects by former names too.
    func identifier(_ text: String) throws -> PersistentIdentifier {
        let identifier = try PersistentIdentifier(text: text, in: storeIdentifier)
        guard try client.schema().entity(named: identifier.entityName) == nil else {
            return identifier
        }
        // A name that never was an entity's is an error of the command that uses it.
        return (try? client.object(for: identifier))??.identifier ?? identifier
    }

    /// Decodes objects of an entity of the store.
    func decoder(_ entityName: String, _ dates: DateOptions) throws -> ObjectDecoder {
        var decoder = try ObjectDecoder(
            entityName, in: client.schema(), of: storeIdentifier, assumesUTC: dates.assumesUTC)
        decoder.allowsTemporaryNames = pending != nil
        return decoder
    }

    /// The temporary name of an object that a command inserts.
    func temporaryName(_ index: Int) -> String { pending?.temporaryName(index) ?? "\(index)" }

    /// Saves changes, or keeps them as pending. A dry run is never pending.
    ///
    /// - Returns: nil if they are pending; the command then has no result.
    func save(_ changes: ChangeSet, idempotencyKey: String) throws(LarderError) -> SaveResult? {
        guard let pending, !changes.isDryRun else {
            return try client.save(changes, idempotencyKey: idempotencyKey)
        }
        try pending.add(changes, idempotencyKey: idempotencyKey)
        return nil
    }

    /// Opens the store that the options name, runs the body, and closes the store in every case.
    ///
    /// - Parameter waitsForMigrations: Whether it waits as long as another client migrates the
    ///   store, for at most the time of a request.
    static func with<Result>(
        _ options: ConnectionOptions, author: String? = nil, waitsForMigrations: Bool = false,
        _ body: (StoreSession) throws -> Result
    ) throws -> Result {
        if let path = options.store {
            let server = try InProcessServer(storePath: path, schemaPath: options.schema)
            return try with(server, options, author: author, body)
        }
        if options.schema != nil { throw ValidationError("--schema requires --store") }
        let path = try options.socketPath()
        let client = try connect(to: path, options.clientOptions(author), waitsForMigrations)
        defer { client.close() }
        return try Timing.measure { try body(StoreSession(client: client)) }
    }

    /// Runs the body with a client of a server in this process, and stops the server.
    static func with<Result>(
        _ server: InProcessServer, _ options: ConnectionOptions, author: String? = nil,
        _ body: (StoreSession) throws -> Result
    ) throws -> Result {
        defer { server.stop() }
        let client = try server.connect(options.clientOptions(author))
        defer { client.close() }
        return try Timing.measure { try body(StoreSession(client: client)) }
    }

    private static func connect(
        to path: String, _ options: StoreClient.Options, _ waitsForMigrations: Bool
    ) throws(LarderError) -> StoreClient {
        let deadline = ContinuousClock.now + options.requestTimeout
        while true {
            do throws(LarderError) {
                // It waits for a while by itself.
                return try StoreClient.connect(to: path, options: options)
            } catch {
                guard error.code == .unavailable, waitsForMigrations, ContinuousClock.now < deadline
                else { throw error }
            }
        }
    }
}

extension ConnectionOptions {
    fileprivate func clientOptions(_ author: String?) -> StoreClient.Options {
        var options = StoreClient.Options()
        options.clientName = "larder"
        options.author = author ?? ""
        options.trace = trace
        options.migrationSession = Environment.value(Environment.migrationSession) ?? ""
        options.schemaVersion = schemaVersion ?? ""
        options.requestTimeout = timeLimit
        options.streamTimeout = timeout?.duration
        options.connectTimeout = min(options.connectTimeout, timeLimit)
        options.reconnectWait = min(options.reconnectWait, timeLimit)
        return options
    }
}
