import ArgumentParser
import LarderModel

/// A command that talks to a store.
protocol StoreCommand: ParsableCommand {
    var options: GlobalOptions { get }
    /// Asks what the command is for, and prints the answer.
    func run(_ store: OpenStore) throws
}

extension StoreCommand {
    func run() throws {
        try OpenStore.with(options) { try run($0) }
    }
}
