import ArgumentParser
import LarderModel

/// A command that talks to a store.
protocol StoreCommand: ParsableCommand {
    var options: GlobalOptions { get }
    /// Who the history says makes the changes; nil for nobody in particular, or no changes.
    var author: String? { get }
    /// Asks what the command is for, and prints the answer.
    func run(_ store: OpenStore) throws
}

extension StoreCommand {
    var author: String? { nil }

    func run() throws {
        try OpenStore.with(options, author: author) { try run($0) }
    }
}
