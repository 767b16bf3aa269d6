import ArgumentParser
import LarderClient
import LarderModel

struct HistoryDeleteCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete the oldest transactions of the history and print their number.",
        discussion: """
            EXAMPLES:
              larder history delete --before 30d
              larder history delete --keep 100000
              larder history delete --up-to "$token"

            The objects stay as they are. The newest transaction is never deleted. Tokens before \
            the end of what was deleted expire: --after then fails with TOKEN_EXPIRED (status 4).

            Deletes in several commits, so that other writes are not delayed. After a timeout, \
            some transactions have been deleted; repeat the command. larderd --history-age and \
            --history-count delete old transactions continuously.
            """)

    @Option(
        help: ArgumentHelp(
            "Delete transactions up to this token or number, included.", valueName: "token"))
    var upTo: TokenArgument?

    @Option(
        help: ArgumentHelp(
            "Delete transactions before this time: ISO 8601, or a time ago: 90s, 15m, 2h, 7d.",
            valueName: "time"))
    var before: TimeArgument?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Delete all but the newest n transactions.", valueName: "n"))
    var keep: Int64?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    mutating func validate() throws {
        guard [upTo != nil, before != nil, keep != nil].filter({ $0 }).count == 1 else {
            throw ValidationError("exactly one of --up-to, --before and --keep is required")
        }
        if let keep, keep < 0 { throw ValidationError("--keep must not be negative") }
    }

    func run(_ session: StoreSession) throws {
        guard let deletion = try deletion(session.client.server) else { return }
        let count = try session.client.deleteHistory(deletion)
        var writer = output.format.makeWriter()
        try writer.write(number: count, name: "deleted", output.format)
    }

    private func deletion(_ server: ServerDescription) throws -> HistoryDeletion? {
        if let upTo { return .upTo(try upTo.token(on: server)) }
        if let before { return .before(before.date) }
        return keep.map { .keeping($0) }
    }
}
