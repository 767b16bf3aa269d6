import ArgumentParser
import LarderModel

struct TopCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Print who is connected to the server and what it is doing.",
        discussion: """
            EXAMPLES:
              larder top
              larder top --interval 5s
              larder top --count 12 --interval 5s --output jsonl >> activity.jsonl
              larder top | sort -t "$(printf '\\t')" -k5,5nr | head
              larder top --output json | jq '.[0].slowReads[] | {seconds, entity, query}'

            On a terminal, the screen is refreshed until it is interrupted. Otherwise, one report \
            is printed; --count prints more.

            The columns are the user, process and name of the client, since when it is connected, \
            its requests so far and per second, those that have not been answered, the feeds \
            (history --follow), the memory that is charged to its user, the bytes of replies \
            that it has not read, and its number. The busiest connections come first.

            plain and csv output have the connections only. In JSON, a report is one object with \
            the load of the server, the connections, the running requests and the slow reads: the \
            last 32 queries that took at least 100 ms. A request is running if it takes longer \
            than its turn: long reads, streams, observed queries, feeds, snapshots, backups, and \
            writes that wait. `larder cancel ID` ends one. The text of a query is printed for \
            queries of your own user, or if you are root or the server's user. It does not have \
            the values of arguments.
            """)

    @Option(
        help: ArgumentHelp("Time between two reports. Default: 2s.", valueName: "time"))
    var interval = TimeLimit(duration: .seconds(2))

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Number of reports.", valueName: "n"))
    var count: Int?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    /// Rates are computed over at least this time.
    private static let sampleTime = Duration.milliseconds(250)

    mutating func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be a number from 1") }
    }

    func run(_ session: StoreSession) throws {
        let client = session.client
        let screen = output.format == .table ? TerminalScreen() : nil
        var countLeft = count ?? (screen == nil ? 1 : .max)
        var printer = ActivityPrinter(
            output.format, screen: screen, serverName: client.server.name)
        var previous = try client.activity()
        var pause = min(Self.sampleTime, interval.duration)
        while countLeft > 0 {
            try StandardOutput.pause(pause)
            pause = interval.duration
            let activity = try client.activity()
            try printer.print(ActivityReport(activity, since: previous))
            previous = activity
            countLeft -= 1
        }
        try printer.end()
    }
}
