import FoundationEssentials
import LarderModel

/// The result of a save in its stored form, in which lists are text.
struct StoredOutcome: Hashable {
    let transaction: Int64?
    /// For example `Article 1-3,Tag 5*`: entities with runs of consecutive keys, in the order of
    /// the inserts. A star marks a run of existing objects that the inserts updated; an outcome
    /// that an earlier program stored has none.
    let inserted: String
    /// For example `2,3,0`.
    let versions: String
    let deleted: Int64
    /// For example `0,4`.
    let merged: String
    /// For example `2:Article 1-2;5000:`: for each bulk change the number of objects, and their
    /// identifiers if they were requested.
    let affected: String
}

extension StoredOutcome {
    /// - Parameter row: A row of ``Layout/findOutcome``.
    init(_ row: [SQLValue]) {
        func text(_ column: Int) -> String { row[column].string ?? "" }
        self.init(
            transaction: row[1].int64, inserted: text(2), versions: text(3),
            deleted: row[4].int64 ?? 0, merged: text(5), affected: text(6))
    }

    init(_ result: SaveResult) {
        self.init(
            transaction: result.transaction,
            inserted: StoredOutcome.text(result.inserted, upserted: Set(result.upserted)),
            versions: result.updatedVersions.map(String.init).joined(separator: ","),
            deleted: result.deletedCount,
            merged: result.merged.map(String.init).joined(separator: ","),
            affected: result.affected.map {
                "\($0.count):\(StoredOutcome.text($0.identifiers))"
            }.joined(separator: ";"))
    }

    /// nil if the text is damaged.
    func result(store: UUID) -> SaveResult? {
        guard let inserted = StoredOutcome.objects(inserted, store),
            let versions: [Int64] = StoredOutcome.numbers(versions),
            let merged: [Int] = StoredOutcome.numbers(merged),
            let affected = affectedObjects(store)
        else { return nil }
        return SaveResult(
            inserted: inserted.identifiers, updatedVersions: versions, deletedCount: deleted,
            merged: merged, transaction: transaction, affected: affected,
            upserted: inserted.upserted)
    }

    private func affectedObjects(_ store: UUID) -> [AffectedObjects]? {
        let parts = affected.split(separator: ";")
        let affected = parts.compactMap { part -> AffectedObjects? in
            let words = part.split(separator: ":", omittingEmptySubsequences: false)
            guard words.count == 2, let count = Int64(words[0]),
                let objects = StoredOutcome.objects(words[1], store), objects.upserted.isEmpty
            else { return nil }
            return AffectedObjects(count: count, identifiers: objects.identifiers)
        }
        return affected.count == parts.count ? affected : nil
    }

    /// - Parameter upserted: The indexes of existing objects that inserts updated.
    private static func text(
        _ identifiers: [PersistentIdentifier], upserted: Set<Int> = []
    ) -> String {
        var runs: [(entityName: String, keys: ClosedRange<Int64>, isUpserted: Bool)] = []
        for (index, identifier) in identifiers.enumerated() {
            let isUpserted = upserted.contains(index)
            guard let key = identifier.permanentKey else {
                preconditionFailure("an inserted object has its key")
            }
            if let last = runs.last, last.entityName == identifier.entityName,
                last.keys.upperBound == key - 1, last.isUpserted == isUpserted
            {
                runs[runs.count - 1].keys = last.keys.lowerBound...key
            } else {
                runs.append((identifier.entityName, key...key, isUpserted))
            }
        }
        return runs.map { name, keys, isUpserted in
            let end = keys.count == 1 ? "" : "-\(keys.upperBound)"
            return "\(name) \(keys.lowerBound)\(end)\(isUpserted ? "*" : "")"
        }.joined(separator: ",")
    }

    private static func objects(
        _ text: some StringProtocol, _ store: UUID
    ) -> (identifiers: [PersistentIdentifier], upserted: [Int])? {
        var identifiers: [PersistentIdentifier] = []
        var upserted: [Int] = []
        for run in text.split(separator: ",") {
            let isUpserted = run.last == "*"
            let words = (isUpserted ? run.dropLast() : run).split(separator: " ")
            guard words.count == 2 else { return nil }
            let ends = words[1].split(separator: "-").compactMap { Int64($0) }
            guard let first = ends.first, let last = ends.last, ends.count <= 2, first >= 1,
                last >= first, last - first < Int64(Limits.changesInPartsMax - identifiers.count)
            else { return nil }
            let entityName = String(words[0])
            let start = identifiers.count
            identifiers += (first...last).map {
                PersistentIdentifier(store: store, entityName: entityName, key: $0)
            }
            if isUpserted { upserted += start..<identifiers.count }
        }
        return (identifiers, upserted)
    }

    private static func numbers<Number: FixedWidthInteger>(_ text: String) -> [Number]? {
        let parts = text.split(separator: ",")
        let numbers = parts.compactMap { Number($0) }
        return numbers.count == parts.count ? numbers : nil
    }
}
