/// The state of a call of `modify`: the records that it read and changed, and how long it may try.
struct Modification<Record: EntityRecord> {
    let identifiers: [PersistentIdentifier]
    private(set) var records: [Record] = []
    private let deadline: ContinuousClock.Instant

    init(_ objects: [Ref<Record>], timeout: Duration) {
        identifiers = objects.map(\.id)
        deadline = .now + timeout
    }

    /// Runs the closure on the records, and returns what it changed.
    ///
    /// - Throws: `objectNotFound` if an object is deleted; the error of the closure.
    mutating func changes(
        to read: [LarderModel.Record], _ change: (inout Record) throws -> Void
    ) throws -> ChangeSet {
        let found = Dictionary(
            read.map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
        var changes = ChangeSet()
        var seen: Set<PersistentIdentifier> = []
        records = []
        for identifier in identifiers {
            guard let object = found[identifier] else {
                throw LarderError(
                    .objectNotFound, "the object is deleted", uri: identifier.uriRepresentation)
            }
            let before: Record = try object.value()
            var after = before
            try change(&after)
            after.id = identifier
            records.append(after)
            // An object that is named twice is changed once.
            let values = try after.difference(from: before).values
            guard seen.insert(identifier).inserted, !values.isEmpty else { continue }
            changes.changes.append(
                .update(identifier, ifVersion: object.version, values: values))
        }
        return changes
    }

    /// Returns if the objects are to be read again.
    ///
    /// - Throws: the error if it is not a conflict, or if the time is over.
    func retry(after error: LarderError) throws {
        guard error.code == .versionConflict, ContinuousClock.now < deadline else { throw error }
    }
}

extension EntityRecord {
    static var propertyNames: [String] { recordProperties.map(\.name) }
}

extension RecordChanges {
    init<Record: EntityRecord>(
        inserting records: [Record], onUniqueConflict policy: UniqueConflictPolicy
    ) throws(LarderError) {
        self.init()
        changeSet.onUniqueConflict = policy
        for record in records { try insert(record) }
    }
}

extension SaveResult {
    /// Inserted records with the identifiers of their objects.
    func identified<Record: EntityRecord>(_ records: [Record]) -> [Record] {
        zip(records, inserted).map { record, identifier in
            var record = record
            record.id = identifier
            return record
        }
    }

    var affectedCount: Int { affected.reduce(0) { $0.addingClamped(Int($1.count)) } }
}
