import ArgumentParser
import LarderClient
import LarderModel
import LarderPrograms

struct WatchCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print each change of the objects that match a predicate.",
        discussion: """
            EXAMPLES:
              larder watch Job --where 'state == "failed"'
              larder watch Job --where 'SELF == %@' --arg "$job" --until 'state == "done"'
              larder watch Article --count 1 --timeout 10s
              larder watch Article --after "$token" | jq -r '."@change", ."@id"'

            Prints one JSON object per line and change, as soon as the change is committed: \
            @change is inserted, updated or deleted, @transaction is the number of the last \
            transaction that the change contains, and the rest is as in fetch --output jsonl. An \
            object that begins to match is inserted, and one that matches no longer is deleted, \
            with its last values. Several commits at once may be one change.

            With --after, the objects that have changed since the token are printed first, if they \
            match now; deleted ones are printed without --where only.

            Ends with status 0 after --count changes, or as soon as an object matches --until as \
            well, also at the start; with status 75 if that has not happened within --timeout. If \
            the server restarts, the command reconnects and prints what has changed.
            """)

    @Argument(help: ArgumentHelp("Entity to watch.", valueName: "entity"))
    var entity: EntityName

    @OptionGroup var predicate: PredicateOptions
    @OptionGroup var arguments: ArgumentOptions
    @OptionGroup var dates: DateOptions

    @Option(
        help: ArgumentHelp(
            "Print what has changed since this token, or transaction number, too.",
            valueName: "token"))
    var after: TokenArgument?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Exit after this number of changes.", valueName: "number"))
    var count: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Exit as soon as an object matches this predicate, too. Its arguments follow those "
                + "of --where.", valueName: "format"), completion: StoreCompletion.expression)
    var until: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    /// How often to check whether the reader of a pipe has exited.
    private static let pipeCheckInterval = Duration.seconds(1)
    private static let untilColumn = "@until"

    mutating func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1") }
        if let output = output.given, output != .jsonl {
            throw ValidationError("watch prints JSON lines only: use --output jsonl")
        }
    }

    func run(_ session: StoreSession) throws {
        let texts = predicate.texts + (until.map { [("--until", $0)] } ?? [])
        try PredicateFailure.attachingFormat(texts, arguments.parameters(dates).arguments) {
            try watch(session.client)
        }
    }

    private func watch(_ client: StoreClient) throws {
        let schema = try client.schema()
        let found = try schema.existingEntity(named: entity.name)
        let names =
            found.attributes.map(\.name)
            + found.relationships.filter { !$0.isToMany }.map(\.name)
        var columns = names.map { QueryColumn($0) }
        if let until { columns.append(QueryColumn(until, name: Self.untilColumn)) }
        let results = client.observe(
            Fetch(
                entity.name, where: predicate.predicate, selection: .columns(columns),
                includesSubentities: !predicate.excludesSubentities),
            arguments.parameters(dates))
        var printer = ChangePrinter(names, countMax: count)
        let deadline = connection.timeout.map { ContinuousClock.now + $0.duration }
        var isFirst = true
        while !printer.isDone {
            let wait = deadline.map { min(Self.pipeCheckInterval, $0 - .now) }
            guard let result = try results.next(timeout: wait ?? Self.pipeCheckInterval) else {
                try StandardOutput.endIfReaderExited()
                if let deadline, deadline <= .now { throw timedOut }
                continue
            }
            if isFirst {
                isFirst = false
                if let after {
                    try printEarlier(after.token(on: client.server), client, result, &printer)
                }
            } else {
                try printer.print(result)
            }
            try printer.flush()
            if result.rows.contains(where: { $0[Self.untilColumn] == true }) { return }
        }
    }

    /// Prints the changes between a token and the first result.
    private func printEarlier(
        _ token: HistoryToken, _ client: StoreClient, _ result: LiveResult,
        _ printer: inout ChangePrinter
    ) throws {
        let rows = Dictionary(
            result.rows.map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
        let history = try client.history(
            HistoryFetch(
                after: token, upTo: max(token, result.position),
                where: HistoryFilter(entities: [entity.name])))
        var kinds: [PersistentIdentifier: HistoryRun.Kind] = [:]
        var order: [PersistentIdentifier] = []
        for change in history.transactions.lazy.flatMap(\.changes) {
            if kinds[change.identifier] == nil { order.append(change.identifier) }
            // An inserted object that is updated later is new all the same.
            if kinds[change.identifier] != .inserted || change.kind == .deleted {
                kinds[change.identifier] = change.kind
            }
        }
        for identifier in order {
            if let row = rows[identifier] {
                try printer.print(
                    kinds[identifier] == .inserted ? .inserted : .updated, row, result.position)
            } else if kinds[identifier] == .deleted, predicate.format == nil {
                try printer.print(deleted: identifier, result.position)
            }
        }
    }

    private var timedOut: LarderError {
        let count = self.count ?? 1
        let changes = count == 1 ? "a change" : "\(count) changes"
        let what = until == nil ? changes : "an object that matches --until"
        return LarderError(
            .timeout, "there was no result in time: the command waited for \(what)",
            hint: "use a longer --timeout, or check the predicate with `larder fetch`")
    }
}

/// Prints changes as JSON lines, up to a number of them.
private struct ChangePrinter {
    private var writer = JSONWriter(isArray: false)
    private let names: [String]
    private var countLeft: Int?

    init(_ names: [String], countMax: Int?) {
        self.names = names
        countLeft = countMax
    }

    var isDone: Bool { countLeft == 0 }

    mutating func print(_ result: LiveResult) throws(LarderError) {
        for (_, row) in result.deleted { try print(.deleted, row, result.position) }
        for index in result.inserted { try print(.inserted, result.rows[index], result.position) }
        for move in (result.updated + result.moved).sorted(by: { $0.to < $1.to }) {
            try print(.updated, result.rows[move.to], result.position)
        }
    }

    mutating func print(
        _ kind: HistoryRun.Kind, _ row: Record, _ position: HistoryToken
    ) throws(LarderError) {
        try print(kind, row.identifier, position, version: row.version, names.map { row[$0] })
    }

    /// Prints a deleted object whose values are not known.
    mutating func print(
        deleted identifier: PersistentIdentifier, _ position: HistoryToken
    ) throws(LarderError) {
        try print(.deleted, identifier, position, version: nil, [])
    }

    private mutating func print(
        _ kind: HistoryRun.Kind, _ identifier: PersistentIdentifier, _ position: HistoryToken,
        version: Int64?, _ values: [Value?]
    ) throws(LarderError) {
        guard !isDone else { return }
        countLeft = countLeft.map { $0 - 1 }
        var members: [(String, Value)] = [
            ("@change", .string("\(kind)")), ("@transaction", .int(position.number)),
            ("@id", .object(identifier)), ("@entity", .string(identifier.entityName)),
        ]
        if let version { members.append(("@version", .int(version))) }
        members += zip(names, values).map { ($0, $1 ?? .null) }
        try writer.begin(members.map(\.0))
        try writer.write(members.map(\.1))
    }

    mutating func flush() throws(LarderError) { try writer.flush() }
}
