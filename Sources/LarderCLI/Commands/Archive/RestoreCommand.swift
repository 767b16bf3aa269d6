import ArgumentParser
import FoundationEssentials
import LarderModel
import LarderStore

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a store file as it was after an earlier commit.",
        discussion: """
            EXAMPLES:
              larder restore --archive /var/backups/school --to restored.store
              larder restore --archive /var/backups/school --to restored.store --at 4711
              larder restore --archive /var/backups/school --to copy.store \
            --at 2026-11-23T12:00:00Z --new-identity

            --archive is the folder of larderd --archive. --at is the number of a transaction \
            (larder history), or a time: ISO 8601, or a time ago: 90s, 15m, 2h, 7d. For a time, \
            the store is restored to the last commit that is not later. Without --at, it is \
            restored to the end of the archive. A commit of several transactions is restored as a \
            whole.

            All files that are needed are verified first. The store is written under a temporary \
            name, checked, and then renamed; a file that exists is never replaced. Prints the \
            store's identifier, the last transaction in it and its time. Needs no server.

            Tokens of the history from before the restore are refused by the restored store. If \
            the original is still used, give the restored store an identity of its own with \
            --new-identity.
            """)

    @Option(
        help: ArgumentHelp("Folder of the archive.", valueName: "folder"),
        completion: .directory)
    var archive: String

    @Option(help: ArgumentHelp("Store file to create.", valueName: "file"), completion: .file())
    var to: String

    @Option(
        help: ArgumentHelp(
            "State to restore. Default: the end of the archive.",
            valueName: "transaction|time"))
    var at: ArchiveTargetArgument?

    @Option(
        help: ArgumentHelp(
            "Generation of the archive. Default: the newest one that has the state.",
            valueName: "number"))
    var generation: Int64?

    @Flag(help: "Give the restored store a new identity.")
    var newIdentity = false

    @Option(help: "Output format. Default: table on a terminal, otherwise plain.")
    var output: OutputFormat?

    func run() throws {
        let outcome = try ArchiveRestore.restore(
            from: archive, to: to, at?.target ?? .latest, generation: generation,
            assignsNewIdentifier: newIdentity)
        var writer = (output ?? .standardOutputDefault).makeWriter()
        try writer.write(
            all: [
                [
                    .uuid(outcome.store), .int(outcome.transaction),
                    outcome.time.map(Value.date) ?? .null,
                ]
            ], names: ["store", "transaction", "time"])
    }
}

/// The number of a transaction, or a time.
struct ArchiveTargetArgument: ExpressibleByArgument {
    let target: ArchiveTarget

    /// Returns nil for any other text. ArgumentParser then reports the option.
    init?(argument: String) {
        if let number = Int64(argument) {
            guard number >= 0 else { return nil }
            target = .transaction(number)
        } else if let time = TimeArgument(argument: argument) {
            target = .time(time.date)
        } else {
            return nil
        }
    }
}
