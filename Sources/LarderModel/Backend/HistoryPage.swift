/// Which part of the history to read.
public struct HistoryPageRequest: Sendable {
    /// Where the first page begins, and where the newest-first order ends; nil is the beginning.
    public var after: HistoryToken?
    /// Where the history ends, and where the newest-first order begins; nil is the end.
    public var upTo: HistoryToken?
    /// Where this page begins; nil for the first page.
    public var start: HistoryPosition?
    /// Without `after` and `start`: begin after the newest transaction.
    public var startsNow: Bool
    public var selection: HistorySelection
    public var newestFirst: Bool
    public var includesChanges: Bool
    /// The maximum number of transactions.
    public var countMax: Int
    /// About the maximum size of the page.
    public var bytesMax: Int
    /// The maximum number of changes of single objects, from 1. A run that has more is divided.
    public var changesMax: Int

    public init(
        after: HistoryToken? = nil, upTo: HistoryToken? = nil, from start: HistoryPosition? = nil,
        startsNow: Bool = false, _ selection: HistorySelection, newestFirst: Bool = false,
        includesChanges: Bool = true, countMax: Int = .max, bytesMax: Int,
        changesMax: Int = .max
    ) {
        self.after = after
        self.upTo = upTo
        self.start = start
        self.startsNow = startsNow
        self.selection = selection
        self.newestFirst = newestFirst
        self.includesChanges = includesChanges
        self.countMax = countMax
        self.bytesMax = bytesMax
        self.changesMax = changesMax
    }
}

/// Where a page of the history begins.
public struct HistoryPosition: Hashable, Sendable {
    /// The first transaction that has not been read completely; there may be none of this number.
    public var number: Int64
    /// The runs of this transaction that have been read.
    public var runCount: Int
    /// The first key of the next run that has not been read; nil for the first of the run.
    public var key: Int64?

    public init(number: Int64, runCount: Int = 0, key: Int64? = nil) {
        self.number = number
        self.runCount = runCount
        self.key = key
    }

    /// Whether a part of the transaction has been read.
    public var isWithin: Bool { runCount > 0 || key != nil }
}

/// Transactions of one part of the history, oldest or newest first.
public struct HistoryPage: Hashable, Sendable {
    public var transactions: [HistoryTransaction]
    /// Whether the next page continues the last transaction with more of its runs.
    public var isLastPartial: Bool
    /// Where the next page begins.
    public var end: HistoryPosition
    /// The number of the newest transaction.
    public var newest: Int64
    /// Whether the page reaches the end of the history as it was.
    public var isLast: Bool

    public init(
        _ transactions: [HistoryTransaction] = [], isLastPartial: Bool = false,
        end: HistoryPosition, newest: Int64, isLast: Bool
    ) {
        self.transactions = transactions
        self.isLastPartial = isLastPartial
        self.end = end
        self.newest = newest
        self.isLast = isLast
    }
}
