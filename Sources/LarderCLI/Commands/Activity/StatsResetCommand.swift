import ArgumentParser
import LarderModel

struct StatsResetCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Let the statistics of queries begin again.",
        discussion: """
            EXAMPLES:
              larder stats reset

            Only root, the user of the server and, with a policy, users with the right admin may \
            reset them. The numbers of `larder stats` and `larder metrics` continue.
            """)

    @OptionGroup var connection: ConnectionOptions

    func run(_ session: StoreSession) throws {
        _ = try session.client.queryStatistics(resetting: true)
    }
}
