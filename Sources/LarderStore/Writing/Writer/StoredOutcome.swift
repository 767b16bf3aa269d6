import FoundationEssentials
import LarderModel

/// The result of a save in its stored form, in which lists are text.
struct StoredOutcome: Hashable {
    let transaction: Int64?
    /// For example `Article 1-3,Tag 5`: entities with runs of consecutive keys, in the order of the
    /// inserts.
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
    init(_ result: SaveResult) {
        self.init(
            transaction: result.transaction,
            inserted: StoredOutcome.text(result.inserted),
            versions: result.updatedVersions.map(String.init).joined(separator: ","),
            deleted: result.deletedCount,
            merged: result.merged.map(String.init).joined(separator: ","),
            affected: result.affected.map {
                "\($0.count):\(StoredOutcome.text($0.identifiers))"
            }.joined(separator: ";"))
    }

    /// nil if the text is damaged.
    func result(store: UUID) -> SaveResult? {
        guard let inserted = StoredOutcome.identifiers(inserted, store),
            let versions: [Int64] = StoredOutcome.numbers(versions),
            let merged: [Int] = StoredOutcome.numbers(merged),
            let affected = affectedObjects(store)
        else { return nil }
        return SaveResult(
            inserted: inserted, updatedVersions: versions, deletedCount: deleted, merged: merged,
            transaction: transaction, affected: affected)
    }

    private func affectedObjects(_ store: UUID) -> [AffectedObjects]? {
        let parts = affected.split(separator: ";")
        let affected = parts.compactMap { part -> AffectedObjects? in
            let words = part.split(separator: ":", omittingEmptySubsequences: false)
            guard words.count == 2, let count = Int64(words[0]),
                let identifiers = StoredOutcome.identifiers(words[1], store)
            else { return nil }
            return AffectedObjects(count: count, identifiers: identifiers)
        }
        return affected.count == parts.count ? affected : nil
    }

    private static func text(_ identifiers: [PersistentIdentifier]) -> String {
        var runs: [(entityName: String, keys: ClosedRange<Int64>)] = []
        for identifier in identifiers {
            guard let key = identifier.permanentKey else {
                preconditionFailure("an inserted object has its key")
            }
            if let last = runs.last, last.entityName == identifier.entityName,
                last.keys.upperBound == key - 1
            {
                runs[runs.count - 1].keys = last.keys.lowerBound...key
            } else {
                runs.append((identifier.entityName, key...key))
            }
        }
        return runs.map { name, keys in
            let end = keys.count == 1 ? "" : "-\(keys.upperBound)"
            return "\(name) \(keys.lowerBound)\(end)"
        }.joined(separator: ",")
    }

    private static func identifiers(
        _ text: some StringProtocol, _ store: UUID
    ) -> [PersistentIdentifier]? {
        var identifiers: [PersistentIdentifier] = []
        for run in text.split(separator: ",") {
            let words = run.split(separator: " ")
            guard words.count == 2 else { return nil }
            let ends = words[1].split(separator: "-").compactMap { Int64($0) }
            guard let first = ends.first, let last = ends.last, ends.count <= 2, first >= 1,
                last >= first, last - first < Int64(Limits.changedObjectsMax - identifiers.count)
            else { return nil }
            let entityName = String(words[0])
            identifiers += (first...last).map {
                PersistentIdentifier(store: store, entityName: entityName, key: $0)
            }
        }
        return identifiers
    }

    private static func numbers<Number: FixedWidthInteger>(_ text: String) -> [Number]? {
        let parts = text.split(separator: ",")
        let numbers = parts.compactMap { Number($0) }
        return numbers.count == parts.count ? numbers : nil
    }
}
