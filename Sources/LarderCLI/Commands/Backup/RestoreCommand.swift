import ArgumentParser
import LarderModel
import LarderStore

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a store of a backup.",
        discussion: """
            EXAMPLES:
              larder restore school.backup --to school.store
              larder restore school.backup --to test.store --new-identity

            Verifies the backup and creates the store. An existing file is never replaced (status \
            5), and nothing remains after an error. Prints the path, the number of the last \
            transaction, and the store's UUID.

            History tokens of the original are valid as far as the backup contains their \
            transactions; later ones fail with TOKEN_EXPIRED (status 4), because their numbers are \
            used again. If the original is still used, give the new store an identity of its own \
            (--new-identity), so that each refuses the identifiers of the other.
            """)

    @Argument(
        help: ArgumentHelp("Backup to read.", valueName: "file"), completion: .file())
    var file: String

    @Option(help: ArgumentHelp("Store file to create.", valueName: "store"), completion: .file())
    var to: String

    @Flag(help: "Give the store a UUID of its own.")
    var newIdentity = false

    @Option(help: "Output format. Default: table on a terminal, otherwise plain.")
    var output: OutputFormat?

    func run() throws {
        let store = try Store.restore(file, to: to, assignsNewIdentifier: newIdentity)
        var writer = (output ?? .standardOutputDefault).makeWriter()
        try writer.write(
            all: [
                [
                    .string(to), .int(store.lastTransaction),
                    .uuid(store.description.identifier),
                ]
            ], names: ["file", "transaction", "store"])
    }
}
