public import Foundation

/// The changes of one save, as the history of a store has them.
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
    associatedtype TokenType: Comparable, Hashable, Identifiable, Sendable
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable

    var timestamp: Date { get }
    var changes: [HistoryChange] { get }
    /// The position after the transaction.
    var token: TokenType { get }
    var transactionIdentifier: TransactionIdentifier { get }
    var storeIdentifier: String { get }
    /// The author of the context that saved; nil if it had none.
    var author: String? { get }
}

/// A transaction of the stores of this module.
public struct DefaultHistoryTransaction: HistoryTransaction {
    public typealias TokenType = DefaultHistoryToken
    public typealias TransactionIdentifier = Int64

    /// The number of the transaction in its store.
    public let transactionIdentifier: Int64
    /// When it was committed.
    public let timestamp: Date
    public let changes: [HistoryChange]
    public let token: DefaultHistoryToken
    public let storeIdentifier: String
    public let author: String?
    /// The name of the client that saved, which is not empty if it gave one.
    public let bundleIdentifier: String
    /// The number of the client's process, if it is known.
    public let processIdentifier: String

    public var id: Int64 { transactionIdentifier }

    public static func == (left: Self, right: Self) -> Bool {
        left.transactionIdentifier == right.transactionIdentifier
            && left.storeIdentifier == right.storeIdentifier
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(transactionIdentifier)
        hasher.combine(storeIdentifier)
    }
}

/// Which transactions to fetch or to delete, and in which order.
public struct HistoryDescriptor<T: HistoryTransaction> {
    public var predicate: Predicate<T>?
    /// The maximum number of transactions; 0 is no limit.
    public var fetchLimit: UInt64 = 0
    /// Without it, the transactions are in the order of their commits.
    public var sortBy: [SortDescriptor<T>]

    public init(predicate: Predicate<T>? = nil) {
        self.init(predicate: predicate, sortBy: [])
    }

    public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

/// A store with a history.
public protocol HistoryProviding {
    associatedtype HistoryType: HistoryTransaction

    static var historyType: HistoryType.Type { get }

    func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
    func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}

extension HistoryProviding {
    public static var historyType: HistoryType.Type { HistoryType.self }
}
