public import FoundationEssentials

/// Selects transactions of the history, and the changes in them.
///
/// Each part that is not empty must hold. A transaction of whose changes none is selected is not
/// selected either.
public struct HistoryFilter: Hashable, Sendable {
    /// One of these has saved it; "" is no author.
    public var authors: [String]
    /// None of these has saved it: usually the own author.
    public var excludedAuthors: [String]
    /// One of these clients has saved it, by the name of the handshake; "" is no name.
    public var clientNames: [String]
    /// Committed at this time or later, by the server's clock.
    public var since: Date?
    /// Committed before this time.
    public var until: Date?
    /// Changes of objects of these entities or their subentities.
    public var entityNames: [String]
    /// Changes of these kinds.
    public var kinds: Set<HistoryRun.Kind>
    /// Only updates of at least one of these properties. Inserts and deletes are not affected.
    public var properties: [String]

    public init(
        entities entityNames: [String] = [], kinds: Set<HistoryRun.Kind> = [],
        properties: [String] = [], authors: [String] = [], excludedAuthors: [String] = [],
        clientNames: [String] = [], since: Date? = nil, until: Date? = nil
    ) {
        self.entityNames = entityNames
        self.kinds = kinds
        self.properties = properties
        self.authors = authors
        self.excludedAuthors = excludedAuthors
        self.clientNames = clientNames
        self.since = since
        self.until = until
    }
}

/// The part of the history to read.
public struct HistoryFetch: Hashable, Sendable {
    /// Where the history begins: after this position. nil is the oldest transaction there is.
    public var after: HistoryToken?
    /// Where it ends: with the last transaction before this position. nil is the newest.
    public var upTo: HistoryToken?
    public var filter: HistoryFilter
    /// The newest transaction first; otherwise the oldest.
    public var newestFirst: Bool
    /// Whether the transactions have their changes.
    public var includesChanges: Bool
    /// The maximum number of transactions; nil is no limit.
    public var limit: Int?

    public init(
        after: HistoryToken? = nil, upTo: HistoryToken? = nil,
        where filter: HistoryFilter = HistoryFilter(),
        newestFirst: Bool = false, includesChanges: Bool = true, limit: Int? = nil
    ) {
        self.after = after
        self.upTo = upTo
        self.filter = filter
        self.newestFirst = newestFirst
        self.includesChanges = includesChanges
        self.limit = limit
    }
}

/// Transactions of the history.
public struct History: Hashable, Sendable {
    public var transactions: [HistoryTransaction]
    /// Where to continue: `after` this position, or `upTo` it if the newest come first.
    public var position: HistoryToken

    public init(_ transactions: [HistoryTransaction], position: HistoryToken) {
        self.transactions = transactions
        self.position = position
    }
}
