import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

extension Reader {
    func pinSnapshot() throws(LarderError) -> Int64 {
        precondition(cursor?.isOpen != true, "one cursor at a time")
        do throws(ReadFailure) {
            try session.pinSnapshot()
            // The first read takes the snapshot.
            do throws(ReadFailure) { return try session.integer(Layout.lastTransaction) } catch {
                session.unpinSnapshot()
                throw error
            }
        } catch {
            guard case .failed(let error) = error else {
                preconditionFailure("taking a snapshot has no budget")
            }
            throw error
        }
    }

    func unpinSnapshot() {
        precondition(cursor?.isOpen != true, "the cursor uses the snapshot")
        session.unpinSnapshot()
    }

    func history(
        _ request: HistoryPageRequest, budget: ReadBudget
    ) throws(ReadFailure) -> HistoryPage {
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
        let description = session.description
        // Opening a store read-only does not upgrade it.
        if description.isReadOnly,
            try pragma("user_version") < Catalog.tablesFormatVersion
        {
            throw .failed(
                LarderError(
                    .unsupported, "the history of a store of an older format cannot be read",
                    hint: "open the store for writing once, which upgrades it"))
        }
        try session.beginSnapshot()
        defer { session.endSnapshot() }
        let deleted = try session.integer(Catalog.readDeletedHistory)
        let last = try session.integer(Layout.lastTransaction)
        do throws(LarderError) {
            try request.after?.check(in: description, deleted: deleted, last: last)
            try request.upTo?.check(in: description, deleted: 0, last: last)
            if let start = request.start, !request.newestFirst {
                // The history may have been deleted since the last page.
                try HistoryToken(
                    store: description.identifier, epoch: description.historyEpoch,
                    number: max(0, start.number - 1)
                ).check(in: description, deleted: deleted, last: .max)
            }
        } catch {
            throw .failed(error)
        }
        var page = HistoryPageReader(session, request, last: last)
        return try page.read()
    }
}

/// Reads one page of the history in the open snapshot of a session.
private struct HistoryPageReader {
    private let session: ReadSession
    private let request: HistoryPageRequest
    private let store: StoreDescription
    /// The number of the last transaction.
    private let last: Int64
    private let start: HistoryPosition

    private var transactions: [HistoryTransaction] = []
    private var byteCount = 0
    /// The runs and transactions that were read, selected or not.
    private var runCount = 0
    private var transactionCount = 0
    /// The changes of single objects in the page.
    private var changeCount = 0

    init(_ session: ReadSession, _ request: HistoryPageRequest, last: Int64) {
        self.session = session
        self.request = request
        self.last = last
        store = session.description
        let after = request.after?.number ?? 0
        let isAtEnd = request.newestFirst || request.after == nil && request.startsNow
        let end = min(last, request.upTo?.number ?? last)
        let first = request.newestFirst ? end : isAtEnd ? last + 1 : after + 1
        start = request.start ?? HistoryPosition(number: first)
    }

    /// A transaction's row.
    private struct Header {
        let transaction: HistoryTransaction
        let firstRun: HistoryRun
        let isSelected: Bool
    }

    /// The run of a transaction at which the page is full.
    private struct Rest {
        let runCount: Int
        let key: Int64?
    }

    mutating func read() throws(ReadFailure) -> HistoryPage {
        let statement = try session.statement(
            request.newestFirst ? Layout.transactionsBackFrom : Layout.transactionsFrom)
        defer { statement.reset() }
        let bound =
            request.newestFirst ? request.after?.number ?? 0 : request.upTo?.number ?? .max
        try session.bind([.integer(start.number), .integer(bound)], to: statement)
        var end = start
        while try session.step(statement) {
            let number = statement.int64(at: 0)
            guard !isFull else { return page(HistoryPosition(number: number), isLast: false) }
            let header = try header(of: statement)
            transactionCount += 1
            let begun = number == start.number ? start : HistoryPosition(number: number)
            if header.isSelected, let rest = try appendTransaction(header, from: begun) {
                return page(
                    HistoryPosition(number: number, runCount: rest.runCount, key: rest.key),
                    isLast: false, isLastPartial: transactions.last?.id == number)
            }
            end = HistoryPosition(number: request.newestFirst ? number - 1 : number + 1)
        }
        if !request.newestFirst {
            let last = min(last, request.upTo?.number ?? last)
            end = HistoryPosition(number: max(end.number, last + 1))
        }
        return page(end, isLast: true)
    }

    private func page(
        _ end: HistoryPosition, isLast: Bool, isLastPartial: Bool = false
    ) -> HistoryPage {
        HistoryPage(
            transactions, isLastPartial: isLastPartial, end: end, newest: last, isLast: isLast)
    }

    private var isFull: Bool {
        transactions.count >= request.countMax || byteCount >= request.bytesMax
            || changeCount >= request.changesMax
            || transactionCount >= Limits.historyPageTransactionsMax
            || runCount >= Limits.historyPageRunsMax
    }

    // MARK: One transaction

    private func header(of statement: Statement) throws(ReadFailure) -> Header {
        let time = statement.double(at: 1)
        let author = statement.string(at: 2)
        let source = ChangeSource(
            userIdentifier: statement.isNull(at: 4)
                ? nil : UInt32(truncatingIfNeeded: statement.int64(at: 4)),
            processIdentifier: statement.isNull(at: 5)
                ? nil : Int32(truncatingIfNeeded: statement.int64(at: 5)),
            clientName: statement.string(at: 3))
        let transaction = HistoryTransaction(
            token: HistoryToken(
                store: store.identifier, epoch: store.historyEpoch,
                number: max(0, statement.int64(at: 0))),
            timestamp: Date(timeIntervalSinceReferenceDate: time), author: author, source: source)
        return Header(
            transaction: transaction, firstRun: try Self.run(statement, at: 6),
            isSelected: request.selection.selects(
                author: author, clientName: source.clientName, time: time))
    }

    /// Appends the selected runs of a transaction.
    ///
    /// - Parameter begun: The part of it that was read before.
    /// - Returns: the rest if the page is full, otherwise nil.
    private mutating func appendTransaction(
        _ header: Header, from begun: HistoryPosition
    ) throws(ReadFailure) -> Rest? {
        var transaction = header.transaction
        guard request.includesChanges || !request.selection.selectsAllChanges else {
            append(transaction)
            return nil
        }
        var index = begun.runCount
        var key = begun.key
        if index == 0 {
            if let rest = try append(header.firstRun, from: key, to: &transaction) {
                append(transaction)
                return Rest(runCount: 0, key: rest)
            }
            (index, key) = (1, nil)
        }
        let statement = try session.statement(Layout.changesOfTransaction)
        defer { statement.reset() }
        try session.bind([.integer(transaction.id), .integer(Int64(index))], to: statement)
        // Without the changes, one that is selected is enough.
        while request.includesChanges || transaction.runs.isEmpty, try session.step(statement) {
            var rest: Rest?
            if isFull {
                rest = Rest(runCount: index, key: key)
            } else {
                let run = try Self.run(statement, at: 0)
                rest = try append(run, from: key, to: &transaction).map {
                    Rest(runCount: index, key: $0)
                }
            }
            if let rest {
                if !transaction.runs.isEmpty { append(transaction) }
                return rest
            }
            (index, key) = (index + 1, nil)
        }
        // The end of a transaction of which a part was read is a part, too, also without runs.
        let isEnd = request.includesChanges && begun.isWithin
        guard isEnd || !transaction.runs.isEmpty else { return nil }
        if !request.includesChanges { transaction.runs = [] }
        append(transaction)
        return nil
    }

    private mutating func append(_ transaction: HistoryTransaction) {
        transactions.append(transaction)
        byteCount += 64 + transaction.author.utf8.count + transaction.source.clientName.utf8.count
    }

    /// Appends a run if it is selected.
    ///
    /// - Parameter key: Where to begin; nil at the first key.
    /// - Returns: the key at which the page is full, otherwise nil.
    private mutating func append(
        _ run: HistoryRun, from key: Int64?, to transaction: inout HistoryTransaction
    ) throws(ReadFailure) -> Int64? {
        runCount += 1
        guard var run = request.selection.selected(run) else { return nil }
        if let key, run.keys.contains(key) { run.keys = key...run.keys.upperBound }
        var rest: Int64?
        if request.includesChanges {
            let room = request.changesMax - changeCount
            if run.keys.count > room {
                rest = run.keys.lowerBound + Int64(room)
                run.keys = run.keys.lowerBound...run.keys.lowerBound + Int64(room) - 1
            }
            byteCount += run.properties.reduce(32 + run.entityName.utf8.count) {
                $0 + 2 + $1.utf8.count
            }
            if run.kind != .inserted {
                if let end = try appendTombstones(of: run, to: &transaction) {
                    rest = end
                    run.keys = run.keys.lowerBound...end - 1
                }
            }
            changeCount += run.keys.count
        }
        transaction.runs.append(run)
        return rest
    }

    /// Appends the values that the objects of a run had before it, until the page is full.
    ///
    /// - Returns: the first object whose values were not appended; nil if there is none.
    private mutating func appendTombstones(
        of run: HistoryRun, to transaction: inout HistoryTransaction
    ) throws(ReadFailure) -> Int64? {
        guard let entity = store.schema.entity(named: run.entityName) else { return nil }
        guard entity.recordsValues || run.kind == .deleted else { return nil }
        let types = recordedTypes(of: entity).filter {
            request.selection.selectsValues(of: $0.key, of: entity.name)
        }
        guard !types.isEmpty else { return nil }
        let statement = try session.statement(Layout.preservedValues)
        defer { statement.reset() }
        try session.bind(
            [
                .integer(transaction.id), .text(run.entityName), .integer(run.keys.lowerBound),
                .integer(run.keys.upperBound),
            ], to: statement)
        var tombstone: HistoryTombstone?
        var objectBytes = 0
        defer { if let tombstone { transaction.tombstones.append(tombstone) } }
        while try session.step(statement) {
            let key = statement.int64(at: 0)
            if tombstone?.key != key {
                if tombstone != nil, byteCount >= request.bytesMax { return key }
                if let tombstone { transaction.tombstones.append(tombstone) }
                tombstone = HistoryTombstone(run.entityName, key, [:])
                objectBytes = 0
            }
            let name = statement.string(at: 1)
            let valueBytes = 16 + name.utf8.count + statement.byteCount(at: 2)
            guard let type = types[name], objectBytes + valueBytes <= Limits.tombstoneBytesMax
            else { continue }
            guard let value = value(statement.value(at: 2), of: type) else { throw Self.damaged }
            objectBytes += valueBytes
            byteCount += valueBytes
            tombstone?.values[name] = value
        }
        return nil
    }

    /// The type of a value in the history; nil for a reference.
    private typealias RecordedType = AttributeType?

    /// The types of the properties of which the history may have values.
    private func recordedTypes(of entity: Entity) -> [String: RecordedType] {
        let attributes = entity.attributes.filter {
            $0.preservesValueOnDeletion || entity.recordsValues && !$0.isDerived
        }
        var types = Dictionary(
            uniqueKeysWithValues: attributes.map { ($0.name, RecordedType.some($0.type)) })
        if entity.recordsValues {
            for relationship in entity.relationships where !relationship.isToMany {
                types[relationship.name] = .some(nil)
            }
        }
        return types
    }

    /// - Returns: nil for a value that is not of the type.
    private func value(_ stored: SQLValue, of type: RecordedType) -> Value? {
        if let type { return stored.value(of: type) }
        switch stored {
        case .null: return .null
        case .text(let text):
            return (try? PersistentIdentifier(text: text, in: store.identifier)).map {
                .object($0)
            }
        default: return nil
        }
    }

    /// The run in five columns of a statement.
    private static func run(
        _ statement: Statement, at column: Int
    ) throws(ReadFailure) -> HistoryRun {
        let (first, last) = (statement.int64(at: column + 2), statement.int64(at: column + 3))
        guard let kind = HistoryRun.Kind(rawValue: statement.int64(at: column)), first > 0,
            first <= last
        else { throw damaged }
        return HistoryRun(
            kind, statement.string(at: column + 1), first...last,
            properties: statement.string(at: column + 4).split(separator: ",").map(String.init))
    }

    private static let damaged = ReadFailure.failed(
        LarderError(
            .storageFailed, "the history is damaged",
            hint: "run `larder check`, and restore the store from a backup"))
}
