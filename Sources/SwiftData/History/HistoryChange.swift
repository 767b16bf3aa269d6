public import LarderModel

/// The change of one model in a transaction.
public enum HistoryChange: Sendable {
    case insert(any HistoryInsert)
    case update(any HistoryUpdate)
    case delete(any HistoryDelete)

    public var changedPersistentIdentifier: PersistentIdentifier {
        switch self {
        case .insert(let change): change.changedPersistentIdentifier
        case .update(let change): change.changedPersistentIdentifier
        case .delete(let change): change.changedPersistentIdentifier
        }
    }
}

public protocol HistoryInsert<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable

    var changeIdentifier: ChangeIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
}

public protocol HistoryUpdate<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable

    var changeIdentifier: ChangeIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
    /// The changed attributes and relationships.
    var updatedAttributes: [any PartialKeyPath<Model> & Sendable] { get }
}

public protocol HistoryDelete<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable

    var changeIdentifier: ChangeIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
    /// The values of attributes with `.preserveValueOnDeletion`.
    var tombstone: HistoryTombstone<Model> { get }
}

public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert, NumberedChange {
    public let changeIdentifier: Int64
    public let transactionIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
}

/// Sendable unchecked: key paths of properties capture no values, so they are immutable.
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate, NumberedChange,
    @unchecked Sendable
{
    public let changeIdentifier: Int64
    public let transactionIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
    public let updatedAttributes: [any PartialKeyPath<Model> & Sendable]
}

public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete, NumberedChange {
    public let changeIdentifier: Int64
    public let transactionIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
    public let tombstone: HistoryTombstone<Model>
}

/// A change with a number. Programs compare changes and use them as keys: two are equal if they
/// have the same number and model.
protocol NumberedChange: Hashable, Identifiable {
    var changeIdentifier: Int64 { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
}

extension NumberedChange {
    public var id: Int64 { changeIdentifier }

    public static func == (left: Self, right: Self) -> Bool {
        left.changeIdentifier == right.changeIdentifier
            && left.changedPersistentIdentifier == right.changedPersistentIdentifier
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(changeIdentifier)
        hasher.combine(changedPersistentIdentifier)
    }
}

/// The values of a deleted model that its attributes with `.preserveValueOnDeletion` had.
///
/// Sendable unchecked: it has stored values and key paths of properties, which are immutable.
public struct HistoryTombstone<Model>: Sequence, @unchecked Sendable {
    public typealias Element = Any

    private let values: [(keyPath: AnyKeyPath, value: any Sendable)]
    private let slot: @Sendable (AnyKeyPath) -> AnyKeyPath?

    init(
        _ values: [(keyPath: AnyKeyPath, value: any Sendable)],
        canonical: @escaping @Sendable (AnyKeyPath) -> AnyKeyPath?
    ) {
        self.values = values
        slot = canonical
    }

    /// The value of an attribute; nil if it was not preserved, or was nil.
    public subscript(keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
        guard let keyPath = slot(keyPath) else { return nil }
        return values.first { $0.keyPath == keyPath }?.value
    }

    public func makeIterator() -> AnyIterator<Any> {
        AnyIterator(values.lazy.map { $0.value as Any }.makeIterator())
    }
}
