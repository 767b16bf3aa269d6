import FoundationEssentials

/// One object as the store returned it, from which ``EntityRecord/init(row:)`` makes a value.
public struct RecordRow: Sendable {
    private enum Source: Sendable {
        case batch(Batch, row: Int, store: UUID)
        case record(Record)
    }

    private let source: Source
    public let identifier: PersistentIdentifier

    /// A row of a batch whose columns are the properties of the type.
    init(_ batch: Batch, row: Int, store: UUID) {
        source = .batch(batch, row: row, store: store)
        identifier = PersistentIdentifier(
            store: store, entityName: batch.objects.entityName(at: row),
            key: batch.objects.keys[row])
    }

    init(_ record: Record) {
        source = .record(record)
        identifier = record.identifier
    }

    /// The value of a property; nil if the row does not have it.
    func value(of name: String, at index: Int) -> Value? {
        switch source {
        case .batch(let batch, let row, let store):
            batch.value(row: row, column: index, store: store)
        case .record(let record): record[name]
        }
    }
}

extension Record {
    /// The object as a value of a record type.
    ///
    /// - Throws: `unknownProperty` if the record lacks a property of the type, `wrongType`,
    ///   `missingValue`.
    public func value<Wanted: EntityRecord>(
        as type: Wanted.Type = Wanted.self
    ) throws(LarderError) -> Wanted {
        try Wanted(row: RecordRow(self))
    }
}

extension EntityRecord {
    /// The columns of a fetch of this type.
    static var columns: [QueryColumn] {
        recordProperties.map { QueryColumn(.tree(.keyPath(.object, [$0.name])), name: $0.name) }
    }

    /// The values of a batch that a fetch of ``columns`` returned.
    static func records(in batch: Batch, store: UUID) throws(LarderError) -> [Self] {
        guard batch.rowCount > 0 else { return [] }
        guard batch.identity != nil, batch.columns.count >= recordProperties.count else {
            throw LarderError(.malformedMessage, "the server returned other columns than requested")
        }
        var records: [Self] = []
        records.reserveCapacity(batch.rowCount)
        for row in 0..<batch.rowCount {
            records.append(try Self(row: RecordRow(batch, row: row, store: store)))
        }
        return records
    }
}
