public import FoundationEssentials

/// A transaction of the history: what one save or one batch of an insert stream has changed.
public struct HistoryTransaction: Hashable, Sendable, Identifiable {
    /// The position after the transaction.
    public var token: HistoryToken
    /// When it was committed, by the server's clock.
    public var timestamp: Date
    /// The author that the change set named; empty if none.
    public var author: String
    /// The client, its user and its process.
    public var source: ChangeSource
    /// The changes: inserts, then updates, then deletes, each by entity and key. Consecutive
    /// runs may be parts of one. Empty if the changes were not requested.
    public var runs: [HistoryRun]
    /// Values before the transaction: of deleted objects those of attributes with
    /// `preserveValueOnDeletion`; of objects of entities with the history `values` those of all
    /// changed attributes and to-one relationships, and of all of them if the object is deleted.
    public var tombstones: [HistoryTombstone]
    /// The inserted and updated objects that were requested with ``HistoryObjects``, with their
    /// values when the transaction was read: later ones if an object has changed again.
    public var objects: [PersistentIdentifier: Record]

    package init(
        token: HistoryToken, timestamp: Date, author: String = "",
        source: ChangeSource = ChangeSource(), runs: [HistoryRun] = [],
        tombstones: [HistoryTombstone] = [], objects: [PersistentIdentifier: Record] = [:]
    ) {
        self.token = token
        self.timestamp = timestamp
        self.author = author
        self.source = source
        self.runs = runs
        self.tombstones = tombstones
        self.objects = objects
    }

    /// The number of the transaction: from 1, increasing with each commit, never reused.
    public var id: Int64 { token.number }

    /// The changes of single objects.
    public var changes: HistoryChanges { HistoryChanges(of: self) }
}

/// One kind of change of objects of one entity with consecutive keys.
public struct HistoryRun: Hashable, Sendable {
    public enum Kind: Int64, Hashable, Sendable, CaseIterable {
        case inserted = 1
        case updated = 2
        case deleted = 3
    }

    public var kind: Kind
    /// The objects' own entity, also if it is a subentity.
    public var entityName: String
    public var keys: ClosedRange<Int64>
    /// The updated attributes and relationships, sorted. An object also counts as updated, without
    /// properties, if a save increments its version and leaves its values as they were.
    public var properties: [String]

    package init(
        _ kind: Kind, _ entityName: String, _ keys: ClosedRange<Int64>, properties: [String] = []
    ) {
        self.kind = kind
        self.entityName = entityName
        self.keys = keys
        self.properties = properties
    }
}

/// The values of an object before a transaction that has deleted or updated it. Of more than 8 MiB
/// some are left out.
public struct HistoryTombstone: Hashable, Sendable {
    public var entityName: String
    public var key: Int64
    public var values: [String: Value]

    package init(_ entityName: String, _ key: Int64, _ values: [String: Value]) {
        self.entityName = entityName
        self.key = key
        self.values = values
    }
}

/// The change of one object in a transaction.
public struct HistoryChange: Hashable, Sendable {
    public var kind: HistoryRun.Kind
    public var identifier: PersistentIdentifier
    /// See ``HistoryRun/properties``.
    public var properties: [String]
    /// The preserved values of a deleted object, by attribute.
    public var tombstone: [String: Value]
    /// The values before the change, as far as the history has them.
    public var former: [String: Value]
    /// The object as it was when the transaction was read, if it was requested; nil if it was
    /// deleted, or did not match.
    public var object: Record?
}

/// The changes of a transaction, object by object. A transaction may have millions; they are made
/// of its runs one after the other.
public struct HistoryChanges: Sequence, Sendable {
    private let transaction: HistoryTransaction

    init(of transaction: HistoryTransaction) { self.transaction = transaction }

    /// The number of changes.
    public var count: Int { transaction.runs.reduce(0) { $0.addingClamped($1.keys.count) } }

    public func makeIterator() -> Iterator { Iterator(transaction) }

    public struct Iterator: IteratorProtocol {
        private struct Object: Hashable {
            let entityName: String
            let key: Int64
        }

        private let store: UUID
        private var runs: ArraySlice<HistoryRun>
        private var key: Int64?
        private let tombstones: [Object: [String: Value]]
        private let objects: [PersistentIdentifier: Record]

        fileprivate init(_ transaction: HistoryTransaction) {
            store = transaction.token.store
            runs = transaction.runs[...]
            objects = transaction.objects
            tombstones = Dictionary(
                transaction.tombstones.map {
                    (Object(entityName: $0.entityName, key: $0.key), $0.values)
                }, uniquingKeysWith: { $1 })
        }

        public mutating func next() -> HistoryChange? {
            guard let run = runs.first else { return nil }
            let key = self.key ?? run.keys.lowerBound
            if key == run.keys.upperBound {
                runs = runs.dropFirst()
                self.key = nil
            } else {
                self.key = key + 1
            }
            let object = Object(entityName: run.entityName, key: key)
            let identifier = PersistentIdentifier(
                store: store, entityName: run.entityName, key: key)
            let former = tombstones[object] ?? [:]
            return HistoryChange(
                kind: run.kind, identifier: identifier, properties: run.properties,
                tombstone: run.kind == .deleted ? former : [:], former: former,
                object: run.kind == .deleted ? nil : objects[identifier])
        }
    }
}
