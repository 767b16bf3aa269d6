import ArgumentParser

struct StatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Print statistics of the store, the server and its queries.",
        discussion: """
            EXAMPLES:
              larder stats
              larder stats --output json | jq 'map({(.name): .value}) | add'
              larder stats queries
              larder stats reset

            Without a subcommand, it is `stats show`.
            """,
        subcommands: [StatsShowCommand.self, StatsQueriesCommand.self, StatsResetCommand.self],
        defaultSubcommand: StatsShowCommand.self)
}
