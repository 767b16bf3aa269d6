public import FoundationEssentials

/// Which transactions to delete from the history: the oldest, up to an end. The newest transaction
/// is never deleted.
public enum HistoryDeletion: Hashable, Sendable {
    /// The transactions before the position of a token.
    case upTo(HistoryToken)
    /// The transactions committed before a time, by the server's clock.
    case before(Date)
    /// All but this number of the newest.
    case keeping(Int64)
}

/// How much of its history a store keeps. Its writer deletes older transactions.
public struct HistoryRetention: Hashable, Sendable {
    /// In seconds; nil is no limit.
    public var ageMax: Double?
    /// The number of transactions; nil is no limit.
    public var countMax: Int64?

    public init(ageMax: Double? = nil, countMax: Int64? = nil) {
        self.ageMax = ageMax
        self.countMax = countMax
    }

    /// The deletions that are due at a time.
    package func deletions(at time: Date) -> [HistoryDeletion] {
        [
            ageMax.map { .before(time.addingTimeInterval(-$0)) },
            countMax.map { .keeping($0) },
        ].compactMap { $0 }
    }
}
