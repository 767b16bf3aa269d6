import LarderClient
import LarderModel
import LarderServer

/// The snapshot of which a dump is made.
///
/// A server ends each snapshot after some time, because the log of the store grows until then. So a
/// served store is copied first, as a backup, and the snapshot is one of the copy, which nobody
/// else uses and which has no time limit; nor has that of a store file without a server.
enum DumpSource {
    /// A time that no dump takes.
    private static let snapshotTimeMax = Duration.seconds(365 * 86_400)

    static func with(
        _ options: ConnectionOptions, _ body: (StoreClient) throws -> Void
    ) throws {
        if let path = options.store {
            guard options.schema == nil else {
                throw UsageFailure(
                    message: "--schema is not an option of dump",
                    hint: "a store that does not exist has nothing to dump")
            }
            return try withStore(path, options, warns: true) { try $0.snapshot(body) }
        }
        let folder = try TemporaryFolder.make(for: "a copy of the store")
        let copy = "\(folder)/copy.store"
        defer { TemporaryFolder.remove(folder, with: copy) }
        try StoreSession.with(options) { _ = try $0.client.backup(showingProgressTo: copy) }
        try withStore(copy, options, warns: false) { client in
            try client.snapshot { snapshot in
                // The snapshot has opened the file, so nothing remains if this process is killed.
                TemporaryFolder.remove(folder, with: copy)
                try body(snapshot)
            }
        }
    }

    private static func withStore(
        _ path: String, _ options: ConnectionOptions, warns: Bool,
        _ body: (StoreClient) throws -> Void
    ) throws {
        var limits = ServerLimits(eventLoopCount: 1)
        limits.readTimeMax = snapshotTimeMax
        let server = try InProcessServer(
            storePath: path, schema: nil, warns: warns, limits: limits)
        try StoreSession.with(server, options) { try body($0.client) }
    }
}
