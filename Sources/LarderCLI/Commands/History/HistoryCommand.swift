import ArgumentParser

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Print which transactions have changed what, follow them, or delete old ones.",
        discussion: """
            EXAMPLES:
              larder history --last 20
              larder history Article --kind updated --since 2h
              larder history --follow
              larder history --after "$(larder history token)" --output jsonl
              larder history delete --before 30d

            Without a subcommand, history is show: see larder history show --help for its options.
            """,
        subcommands: [
            HistoryShowCommand.self, HistoryTokenCommand.self, HistoryDeleteCommand.self,
        ],
        defaultSubcommand: HistoryShowCommand.self)
}
