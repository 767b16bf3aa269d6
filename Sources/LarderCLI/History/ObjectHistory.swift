import LarderClient
import LarderModel

/// The changes of one object, with its values before and after each of them.
///
/// The history has the values before a change, if the entity has the history `values`. The value
/// after it is that before the next change of the property, or the one that the object has now. So
/// the history is read from its end.
struct ObjectHistory {
    /// A value that may be unknown, because the history does not have it.
    enum Known: Equatable {
        case value(Value)
        case unknown

        init(_ value: Value?) { self = value.map { .value($0) } ?? .unknown }

        var value: Value? {
            if case .value(let value) = self { value } else { nil }
        }
    }

    struct Step {
        /// The transaction without its changes.
        let transaction: HistoryTransaction
        let kind: HistoryRun.Kind
        /// By name.
        let properties: [(name: String, before: Known, after: Known)]
    }

    let identifier: PersistentIdentifier
    /// The object now; nil if it is deleted.
    let object: Record?
    /// The newest first.
    private(set) var steps: [Step] = []
    /// The values at the beginning of the last step.
    private(set) var values: [String: Known]

    static let stepsMax = 100_000
    private static let pageCount = 1_000

    /// Reads the changes after a position.
    ///
    /// - Parameters:
    ///   - position: nil for all that the history has.
    ///   - limit: The number of changes, the newest ones; nil for all.
    /// - Throws: `objectNotFound` if neither the store nor its history has the object, and
    ///   `resourceExhausted` for more than ``stepsMax`` changes.
    init(
        of identifier: PersistentIdentifier, after position: HistoryToken?, limit: Int? = nil,
        _ snapshot: StoreClient
    ) throws {
        self.identifier = identifier
        object = try snapshot.object(for: identifier)
        values = object?.values.mapValues { .value($0) } ?? [:]
        let wanted = HistoryObjects(
            Fetch(identifier.entityName, where: .format("SELF == %@"), selection: .identifiers),
            QueryParameters(arguments: [.value(.object(identifier))]))
        var fetch = HistoryFetch(
            after: position, where: HistoryFilter(entities: [identifier.entityName]),
            newestFirst: true, limit: Self.pageCount)
        while steps.count < limit ?? .max {
            let page = try snapshot.history(fetch, objects: [wanted])
            for transaction in page.transactions where steps.count < limit ?? .max {
                try append(transaction)
            }
            guard page.transactions.count == Self.pageCount else { break }
            fetch.upTo = page.position
        }
        if object == nil, steps.isEmpty {
            throw LarderError(
                .objectNotFound, "there is no object \(identifier.shortText), and no change of it",
                uri: identifier.uriRepresentation)
        }
    }

    private mutating func append(_ transaction: HistoryTransaction) throws(LarderError) {
        for change in transaction.changes where change.identifier == identifier {
            guard steps.count < Self.stepsMax else {
                throw LarderError(
                    .resourceExhausted,
                    "\(identifier.shortText) has more than \(Self.stepsMax) changes",
                    hint: "print the newest ones, with --last")
            }
            append(change, of: transaction)
        }
    }

    private mutating func append(_ change: HistoryChange, of transaction: HistoryTransaction) {
        var header = transaction
        (header.runs, header.tombstones) = ([], [])
        let names =
            switch change.kind {
            case .inserted: values.filter { $0.value != .value(.objects([])) }.keys.sorted()
            case .updated: change.properties
            case .deleted: change.former.keys.sorted()
            }
        let properties = names.map { name in
            let before: Known =
                change.kind == .inserted ? .value(.null) : Known(change.former[name])
            let after: Known = change.kind == .deleted ? .value(.null) : values[name] ?? .unknown
            return (name: name, before: before, after: after)
        }
        steps.append(Step(transaction: header, kind: change.kind, properties: properties))
        switch change.kind {
        case .inserted: values = [:]
        case .updated: for name in names { values[name] = Known(change.former[name]) }
        case .deleted: values = change.former.mapValues { .value($0) }
        }
    }
}
