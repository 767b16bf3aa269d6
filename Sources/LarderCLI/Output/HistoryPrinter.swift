import FoundationEssentials
import LarderModel

/// Prints transactions of the history, one per row.
///
/// JSON has the changes and the preserved values of deleted objects as arrays; the other formats
/// have a summary. A table omits the tokens, which are long, and has milliseconds and user names.
struct HistoryPrinter {
    private var writer: any RowWriter
    private let format: OutputFormat
    private let includesChanges: Bool
    private let includesObjects: Bool

    init(
        _ format: OutputFormat, includesChanges: Bool, includesObjects: Bool
    ) throws(LarderError) {
        self.format = format
        self.includesChanges = includesChanges
        self.includesObjects = includesObjects
        writer =
            format == .table
            ? TableWriter(overflow: .wrapsLastColumn) : format.makeWriter()
        var names = ["number", "time", "author", "client", "user", "process"]
        if includesChanges { names += format.isJSON ? ["changes", "tombstones"] : ["changes"] }
        if includesObjects { names.append("objects") }
        if !format.isForPeople { names.append("token") }
        try writer.begin(names)
    }

    mutating func print(_ transaction: HistoryTransaction) throws(LarderError) {
        try writer.write(row(transaction))
    }

    /// Writes what has been printed so far.
    mutating func flush() throws(LarderError) { try writer.flush() }

    mutating func end() throws(LarderError) { try writer.end() }

    private func row(_ transaction: HistoryTransaction) -> [Value] {
        let source = transaction.source
        let isTable = format.isForPeople
        var row: [Value] = [
            .int(transaction.id),
            .date(isTable ? transaction.timestamp.inMilliseconds : transaction.timestamp),
            .string(transaction.author), .string(source.clientName),
            source.userIdentifier.map { isTable ? .string(UserName.of($0)) : .int(Int64($0)) }
                ?? .null,
            source.processIdentifier.map { .int(Int64($0)) } ?? .null,
        ]
        if includesChanges {
            if format.isJSON {
                row += [
                    .json(JSONValue.array(transaction.joinedRuns.map(json(transaction))).text),
                    .json(JSONValue.array(transaction.tombstones.map(json(transaction))).text),
                ]
            } else {
                row.append(.string(ChangeSummary(of: transaction).text))
            }
        }
        if includesObjects {
            let records = transaction.changes.compactMap(\.object)
            row.append(.json(JSONValue.array(records.map(json)).text))
        }
        if !isTable { row.append(.string(transaction.token.description)) }
        return row
    }

    // MARK: JSON

    private func json(_ transaction: HistoryTransaction) -> (HistoryRun) -> JSONValue {
        { run in
            var members: [String: JSONValue] = [
                "kind": .string(run.kind.name), "entity": .string(run.entityName),
                "count": .integer(Int64(run.keys.count)),
                "first": uri(run.entityName, run.keys.lowerBound, transaction),
                "last": uri(run.entityName, run.keys.upperBound, transaction),
            ]
            if run.kind == .updated {
                members["properties"] = .array(run.properties.map { .string($0) })
            }
            return .object(members)
        }
    }

    private func json(_ transaction: HistoryTransaction) -> (HistoryTombstone) -> JSONValue {
        { tombstone in
            var members = tombstone.values.mapValues(\.jsonValue)
            members["@id"] = uri(tombstone.entityName, tombstone.key, transaction)
            members["@entity"] = .string(tombstone.entityName)
            return .object(members)
        }
    }

    private func json(_ record: Record) -> JSONValue {
        var members = record.values.mapValues(\.jsonValue)
        members["@id"] = Value.object(record.identifier).jsonValue
        members["@entity"] = .string(record.entityName)
        members["@version"] = .integer(record.version)
        return .object(members)
    }

    private func uri(
        _ entityName: String, _ key: Int64, _ transaction: HistoryTransaction
    ) -> JSONValue {
        Value.object(
            PersistentIdentifier(
                store: transaction.token.store, entityName: entityName, key: key)
        ).jsonValue
    }
}

extension Date {
    fileprivate var inMilliseconds: Date {
        Date(
            timeIntervalSinceReferenceDate: (timeIntervalSinceReferenceDate * 1_000).rounded(.down)
                / 1_000)
    }
}

extension HistoryTransaction {
    /// The runs, of which no two are parts of one.
    fileprivate var joinedRuns: [HistoryRun] {
        var joined: [HistoryRun] = []
        for run in runs {
            if let last = joined.last, last.kind == run.kind, last.entityName == run.entityName,
                last.properties == run.properties,
                last.keys.upperBound == run.keys.lowerBound - 1
            {
                joined[joined.count - 1].keys = last.keys.lowerBound...run.keys.upperBound
            } else {
                joined.append(run)
            }
        }
        return joined
    }
}
