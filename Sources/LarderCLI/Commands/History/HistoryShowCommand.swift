import ArgumentParser
import LarderClient
import LarderModel
import LarderPrograms

struct HistoryShowCommand: StoreCommand, PagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print transactions of the history, oldest first.",
        discussion: """
            EXAMPLES:
              larder history --last 20
              larder history --newest-first --limit 20 --no-changes
              larder history Article --kind updated --property title --since 2h
              larder history --follow --not-author importer
              larder history Article --where 'pages > 9' --objects --output jsonl
              larder history Book/p7 --output table
              larder history --after "$token" --limit 100 --output jsonl
              larder history --output jsonl | jq -c '.changes[]'

            Prints one transaction per row: its number, the time of the commit in UTC, the author, \
            the client program with its user and process, and the changes: +2 Article, \
            ~1 Category (name) and -1 Tag are two inserted articles, a category whose name was \
            updated, and a deleted tag. Without --last and --limit, all transactions that the \
            options select are printed.

            plain and csv output have the token of each transaction in the last column; in JSON it \
            is the member token. Pass the token of the last row to --after to continue. A table \
            has no tokens, but --after and --up-to also take the number of a transaction. If no \
            transaction was selected, continue with the token that you already have.

            In JSON, changes is an array with kind, entity, count, first and last (the URIs of the \
            objects, which have consecutive numbers) and, for updates, properties. tombstones has \
            values from before the transaction: of deleted objects those that the schema \
            preserves, and of entities with "history": "values" all that were changed.

            With --where, changes of objects that match before or after are printed, and some \
            others: the history has no old values, so each deletion and each update of a property \
            in the predicate is printed, too. --objects adds the member objects: the inserted and \
            updated objects that match now, as fetch prints them. A copy of the objects that \
            match is kept up to date by storing these and removing the others in changes.

            With the URI of an object instead of an entity, prints one property per row: what the \
            object had before and after each change, and by whom. The values before are in the \
            history of entities with "history": "values"; otherwise recorded is false, and a value \
            that is not known is nil.

            With --follow, each transaction is printed as soon as it is committed; output is never \
            buffered. If the server restarts, the command reconnects, reports this on standard \
            error, and continues without a gap.
            """)

    @OptionGroup var history: HistoryOptions
    @OptionGroup var predicate: PredicateOptions
    @OptionGroup var arguments: ArgumentOptions
    @OptionGroup var dates: DateOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    /// The number of transactions in one request.
    private static let pageCount = 100
    /// The number of transactions before the first one that is followed.
    private static let followedLastDefault = 10
    /// How often to check whether the reader of a pipe has exited.
    private static let pipeCheckInterval = Duration.seconds(1)

    private var wantedObjects: [HistoryObjects] {
        history.wantedObjects(where: predicate, arguments.parameters(dates))
    }

    var usesPager: Bool { !history.follow }

    mutating func validate() throws {
        try history.check(predicate)
        if history.follow, output.format == .json {
            throw ValidationError("--follow requires --output jsonl instead of json")
        }
        if history.objects, !output.format.isJSON {
            throw ValidationError("--objects requires --output json or jsonl")
        }
    }

    func run(_ session: StoreSession) throws {
        do {
            if let object = history.object { return try show(object, session) }
            try PredicateFailure.attachingFormat(
                predicate.texts, arguments.parameters(dates).arguments
            ) { try show(session.client) }
        } catch let error as LarderError where error.code == .tokenExpired {
            throw error.adding(
                hint: "`larder history token` prints the current token, and `larder history` "
                    + "without --after what is left of the history")
        } catch let error as LarderError where error.code == .futureToken {
            throw error.adding(hint: "`larder history --last 1` prints the last transaction")
        }
    }

    /// Prints the changes of one object, in one snapshot.
    private func show(_ object: String, _ session: StoreSession) throws {
        let identifier = try session.identifier(object)
        let after = try history.after?.token(on: session.client.server)
        let changes = try session.client.snapshot {
            try ObjectHistory(of: identifier, after: after, limit: history.last, $0)
        }
        let printer = ObjectHistoryPrinter(format: output.format)
        if history.newestFirst {
            try printer.print(changes.steps)
        } else {
            try printer.print(changes.steps.reversed())
        }
    }

    private func show(_ client: StoreClient) throws {
        let fetch = HistoryFetch(
            after: try history.after?.token(on: client.server),
            upTo: try history.upTo?.token(on: client.server), where: history.filter,
            newestFirst: history.newestFirst, includesChanges: !history.noChanges,
            limit: history.limit)
        var printer = try HistoryPrinter(
            output.format, includesChanges: fetch.includesChanges,
            includesObjects: history.objects)
        if history.follow {
            try follow(fetch, client, &printer)
        } else if let count = history.last {
            try printLast(count, fetch, client, &printer)
        } else {
            try printAll(fetch, client, &printer)
        }
        try printer.end()
    }

    /// Prints page after page, so that the memory is bounded.
    private func printAll(
        _ fetch: HistoryFetch, _ client: StoreClient, _ printer: inout HistoryPrinter
    ) throws {
        var fetch = fetch
        var countLeft = history.limit ?? .max
        let end = connection.timeout.map { ContinuousClock.now + $0.duration }
        while true {
            if let end, end < .now {
                throw LarderError(
                    .timeout, "the history was not complete within the time limit",
                    hint: "print a part of it, with --after or --limit, or set a longer --timeout")
            }
            let count = min(countLeft, Self.pageCount)
            fetch.limit = count
            let page = try client.history(fetch, objects: wantedObjects)
            for transaction in page.transactions { try printer.print(transaction) }
            countLeft -= count
            if countLeft == 0 || page.transactions.count < count { return }
            if fetch.newestFirst {
                fetch.upTo = page.position
            } else {
                fetch.after = page.position
            }
        }
    }

    private func printLast(
        _ count: Int, _ fetch: HistoryFetch, _ client: StoreClient,
        _ printer: inout HistoryPrinter
    ) throws {
        var fetch = fetch
        fetch.newestFirst = true
        fetch.limit = count
        let page = try client.history(fetch, objects: wantedObjects)
        for transaction in page.transactions.reversed() {
            try printer.print(transaction)
        }
    }

    // MARK: Following

    private func follow(
        _ fetch: HistoryFetch, _ client: StoreClient, _ printer: inout HistoryPrinter
    ) throws {
        var start = fetch.after
        if start == nil || history.last != nil {
            var fetch = fetch
            fetch.upTo = try client.currentToken()
            try printLast(
                history.last ?? Self.followedLastDefault, fetch, client, &printer)
            start = fetch.upTo
        }
        try printer.flush()
        let feed = client.changes(
            after: start, where: fetch.filter, objects: wantedObjects,
            includesChanges: fetch.includesChanges)
        while true {
            switch try feed.nextEvent(timeout: Self.pipeCheckInterval) {
            case .transaction(let transaction):
                try printer.print(transaction)
                try printer.flush()
            case .interrupted(let error):
                StandardError.write(
                    "warning: the connection was lost, reconnecting: \(error.message)\n")
            case .resumed(let token):
                StandardError.write(
                    "note: reconnected; the history continues after transaction \(token.number)\n")
            case .current, nil: try StandardOutput.endIfReaderExited()
            }
        }
    }
}
