import ArgumentParser
import FoundationEssentials
import LarderModel
import LarderStore

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a store of a backup, or of a state in an archive.",
        discussion: """
            EXAMPLES:
              larder restore school.backup --to school.store
              larder restore school.backup --to test.store --new-identity
              larder restore --archive /var/backups/school --to school.store --at 4711
              larder restore --archive /var/backups/school --to copy.store --at 2h

            Verifies everything that it reads, and creates the store. An existing file is never \
            replaced (status 5), and nothing remains after an error. Prints the path, the number \
            of the last transaction, its time, and the store's UUID. Needs no server.

            --archive is the folder of larderd --archive. --at is the number of a transaction \
            (larder history), or a time: ISO 8601, or a time ago: 90s, 15m, 2h, 7d. For a time, \
            the store is restored to the last commit that is not later. Without --at, it is \
            restored to the end of the archive. A commit of several transactions is restored as a \
            whole.

            History tokens of the original are valid as far as the restored store contains their \
            transactions; later ones fail with TOKEN_EXPIRED (status 4), because their numbers are \
            used again. If the original is still used, give the new store an identity of its own \
            (--new-identity), so that each refuses the identifiers of the other.
            """)

    @Argument(
        help: ArgumentHelp("Backup to read, without --archive.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp("Folder of the archive.", valueName: "folder"),
        completion: .directory)
    var archive: String?

    @Option(help: ArgumentHelp("Store file to create.", valueName: "store"), completion: .file())
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

    func validate() throws {
        guard (file == nil) != (archive == nil) else {
            throw ValidationError("either a backup FILE or --archive FOLDER is required")
        }
        if archive == nil, at != nil || generation != nil {
            throw ValidationError("--at and --generation require --archive")
        }
    }

    func run() throws {
        let (transaction, time, store) = try restore()
        var writer = (output ?? .standardOutputDefault).makeWriter()
        var row: [Value] = [.string(to), .int(transaction)]
        var names = ["file", "transaction"]
        if archive != nil {
            row.append(time.map(Value.date) ?? .null)
            names.append("time")
        }
        try writer.write(all: [row + [.uuid(store)]], names: names + ["store"])
    }

    private func restore() throws -> (transaction: Int64, time: Date?, store: UUID) {
        var progress = RestoreProgress()
        defer { progress.end() }
        guard let archive else {
            let restored = try Store.restore(
                file ?? "", to: to, assignsNewIdentifier: newIdentity
            ) { progress.show($0, $1, $2) }
            return (restored.lastTransaction, nil, restored.description.identifier)
        }
        let outcome = try ArchiveRestore.restore(
            from: archive, to: to, at?.target ?? .latest, generation: generation,
            assignsNewIdentifier: newIdentity
        ) { progress.show($0, $1, $2) }
        return (outcome.transaction, outcome.time, outcome.store)
    }
}

/// The progress of the current step of a restore.
private struct RestoreProgress {
    private var step: RestoreStep?
    private var progress: Progress?
    private var check: ElapsedProgress?

    mutating func show(_ step: RestoreStep, _ read: Int64, _ total: Int64) {
        if step != self.step { begin(step) }
        progress?.show(Int(clamping: read), of: total)
    }

    private mutating func begin(_ step: RestoreStep) {
        end()
        self.step = step
        switch step {
        case .verifies: progress = Progress("verified", .bytes)
        case .writes: progress = Progress("restored", .bytes)
        case .checks: check = ElapsedProgress("checking the store")
        }
    }

    mutating func end() {
        progress?.end()
        progress = nil
        check?.end()
        check = nil
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
