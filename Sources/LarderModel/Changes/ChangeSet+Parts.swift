// Change sets that are saved in parts, because they are too long for a frame or for memory.

extension ChangeSet {
    /// The numbers of changes and bytes from which on a set is saved in parts. A server decodes a
    /// shorter one in memory, which it charges to the user.
    private static let partsCountMin = 20_000
    private static let partsBytesMin = 4 << 20

    /// Whether the set is long enough to be saved in parts, and has only what such sets may have.
    package var isSavedInParts: Bool {
        guard conditions.isEmpty else { return false }
        if changes.count < Self.partsCountMin {
            var left = Self.partsBytesMin
            let isLong = changes.contains { change in
                left -= change.byteCount
                return left < 0
            }
            guard isLong else { return false }
        }
        return changes.allSatisfy(\.mayBeSavedInParts)
    }
}

extension Change {
    /// Whether a set that is saved in parts may have this change.
    package var mayBeSavedInParts: Bool {
        switch self {
        case .insert: true
        case .update(_, let ifVersion, _, let base, _): ifVersion == nil && base.isEmpty
        case .delete(_, let ifVersion): ifVersion == nil
        case .updateAll, .deleteAll: false
        }
    }

    /// Roughly the length of the name of a value, with the message around both.
    private static let nameBytes = 32

    /// Roughly the length of the encoded change.
    fileprivate var byteCount: Int {
        let fixed = 64
        switch self {
        case .insert(_, let values, let edits), .update(_, _, let values, _, let edits):
            // Each save counts them, so their names are not looked at.
            var count = (1 + edits.count) * fixed + values.count * Self.nameBytes
            for value in values.values { count += value.byteCount }
            return count
        case .delete, .updateAll, .deleteAll: return fixed
        }
    }
}

extension Value {
    fileprivate var byteCount: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let bytes): bytes.count
        case .json(let text): text.utf8.count
        case .objects(let identifiers): identifiers.count * 32
        default: 16
        }
    }
}

extension LarderError {
    /// - Parameter index: That of the change; nil for the conditions.
    package static func notInParts(_ index: Int?) -> LarderError {
        LarderError(
            ChangeViolation(
                .invalidChangeSet,
                "a change set that is saved in parts has only inserts, updates without a version "
                    + "and base values, and deletes without a version", change: index),
            hint: "save fewer changes at once")
    }
}
