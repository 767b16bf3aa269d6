import LarderModel

/// Which part of the history to read.
package struct HistoryPageRequest: Sendable {
    /// Where the first page begins, and where the newest-first order ends; nil is the beginning.
    package var after: HistoryToken?
    /// Where the history ends, and where the newest-first order begins; nil is the end.
    package var upTo: HistoryToken?
    /// Where this page begins; nil for the first page.
    package var start: HistoryPosition?
    /// Without `after` and `start`: begin after the newest transaction.
    package var startsNow: Bool
    package var selection: HistorySelection
    package var newestFirst: Bool
    package var includesChanges: Bool
    /// The maximum number of transactions.
    package var countMax: Int
    /// About the maximum size of the page.
    package var bytesMax: Int
    /// The maximum number of changes of single objects, from 1. A run that has more is divided.
    package var changesMax: Int

    package init(
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
package struct HistoryPosition: Hashable, Sendable {
    /// The first transaction that has not been read completely; there may be none of this number.
    package var number: Int64
    /// The runs of this transaction that have been read.
    package var runCount: Int
    /// The first key of the next run that has not been read; nil for the first of the run.
    package var key: Int64?

    package init(number: Int64, runCount: Int = 0, key: Int64? = nil) {
        self.number = number
        self.runCount = runCount
        self.key = key
    }

    /// Whether a part of the transaction has been read.
    package var isWithin: Bool { runCount > 0 || key != nil }
}

/// Transactions of one part of the history, oldest or newest first.
package struct HistoryPage: Hashable, Sendable {
    package var transactions: [HistoryTransaction]
    /// Whether the next page continues the last transaction with more of its runs.
    package var isLastPartial: Bool
    /// Where the next page begins.
    package var end: HistoryPosition
    /// The number of the newest transaction.
    package var newest: Int64
    /// Whether the page reaches the end of the history as it was.
    package var isLast: Bool

    package init(
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
