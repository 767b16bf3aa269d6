import ArgumentParser
import LarderModel

/// A command that uses a store.
protocol StoreCommand: ParsableCommand {
    var connection: ConnectionOptions { get }
    /// The author to record in the history; nil for none, or if the command makes no changes.
    var author: String? { get }
    /// Sends the requests of the command and prints the results.
    func run(_ session: StoreSession) throws
}

/// A command whose changes `larder shell` can keep as pending. It saves them with
/// ``StoreSession/save(_:idempotencyKey:)``.
protocol PendingCommand: StoreCommand {}

extension StoreCommand {
    var author: String? { nil }

    func run() throws {
        try StoreSession.with(connection, author: author) { try run($0) }
    }
}
