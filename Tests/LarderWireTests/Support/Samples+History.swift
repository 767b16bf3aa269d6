import FoundationEssentials
import LarderModel
import LarderWire

// The messages of the history.
extension Samples {
    static let token = HistoryToken(store: store, epoch: -7, number: 5_000_000_000)
    static let beginning = HistoryToken(store: store, epoch: 0, number: 0)

    private static let filter = HistoryFilter(
        entities: ["Student", "Course"], kinds: [.deleted, .inserted, .updated],
        properties: ["name"], authors: ["the editor", ""], excludedAuthors: ["the importer"],
        clientNames: ["larder", "é"], since: Date(timeIntervalSinceReferenceDate: -0.5),
        until: Date(timeIntervalSinceReferenceDate: 800_000_000))

    static let historyRequests: [(name: String, request: Request)] = [
        ("history", .history(HistoryRequest(HistoryFetch()))),
        (
            "historyFiltered",
            .history(
                HistoryRequest(
                    HistoryFetch(
                        after: token, upTo: HistoryToken(store: store, epoch: -7, number: .max),
                        where: filter, newestFirst: true, includesChanges: false, limit: 100)))
        ),
        (
            "historyOfNothing",
            .history(
                HistoryRequest(
                    HistoryFetch(
                        after: beginning,
                        where: HistoryFilter(since: Date(timeIntervalSinceReferenceDate: 0)),
                        limit: 0)))
        ),
        (
            "historyFollowed",
            .history(
                HistoryRequest(
                    HistoryFetch(where: HistoryFilter(kinds: [.updated])), startsNow: true,
                    credit: 16, follows: true))
        ),
        ("deleteHistoryUpTo", .deleteHistory(.upTo(token))),
        (
            "deleteHistoryBefore",
            .deleteHistory(.before(Date(timeIntervalSinceReferenceDate: 1.5)))
        ),
        ("deleteHistoryKeeping", .deleteHistory(.keeping(0))),
    ]

    private static func empty(_ number: Int64) -> HistoryTransaction {
        HistoryTransaction(
            token: HistoryToken(store: store, epoch: token.epoch, number: number),
            timestamp: Date(timeIntervalSinceReferenceDate: 0))
    }

    /// A transaction with every kind of run, and with values of deleted objects.
    static let transaction: HistoryTransaction = {
        var transaction = empty(4_999_999_999)
        transaction.timestamp = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
        transaction.author = "the editor"
        transaction.source = ChangeSource(
            userIdentifier: .max, processIdentifier: -1, clientName: "larder")
        transaction.runs = [
            HistoryRun(.inserted, "Student", 1...70_000),
            HistoryRun(.updated, "Course", 3...3, properties: ["name", "students"]),
            HistoryRun(.updated, "Student", 70_001...70_002),
            HistoryRun(.deleted, "Course", .max...(.max)),
        ]
        transaction.tombstones = [
            HistoryTombstone(
                "Course", .max, Dictionary(uniqueKeysWithValues: values.map { ($0.name, $0.value) })
            ),
            HistoryTombstone("Course", 1, [:]),
        ]
        return transaction
    }()

    static let historyReplies: [(name: String, reply: Reply)] = [
        (
            "transactions",
            .history(
                HistoryReply(
                    [transaction, empty(token.number)], upTo: token, isCurrent: true),
                more: false)
        ),
        (
            "transactionsPartial",
            .history(
                HistoryReply(
                    [transaction], upTo: HistoryToken(store: store, epoch: -7, number: 9),
                    isPartial: true), more: true)
        ),
        (
            "transactionsCurrent",
            .history(HistoryReply(upTo: token, isCurrent: true), more: true)
        ),
        ("noTransactions", .history(HistoryReply(upTo: beginning), more: false)),
        ("historyDeleted", .historyDeleted(5_000_000_000)),
        ("historyDeletedNothing", .historyDeleted(0)),
    ]
}
