import LarderModel
import LarderSQL

/// The traces of the earlier schemas of a store, as its catalog records them.
struct MigrationRecord: Hashable, Sendable {
    /// By the former name of an entity, its name now. An identifier may have either.
    private(set) var aliases: [String: String] = [:]
    /// By the name of an entity that was removed or renamed, the last key that it had.
    private(set) var retiredKeys: [String: Int64] = [:]
    /// The schemas, as canonical JSON and the latest first, for which clients may still have been
    /// built: the current schema has everything that they have.
    private(set) var formerSchemas: [String] = []
    /// The fingerprints of all schemas that the store had before, the latest first. Programs that
    /// did not record them have left none.
    private(set) var pastFingerprints: [String] = []

    private static let formerSchemasMax = 16
    private static let pastFingerprintsMax = 1_000

    private enum Key {
        static let aliases = "aliases"
        static let retiredKeys = "retiredKeys"
        static let formerSchemas = "formerSchemas"
        static let pastFingerprints = "pastFingerprints"
    }

    init() {}

    /// - Returns: nil if the text is damaged.
    init?(_ text: String) {
        guard case .object(let members)? = try? JSONValue(parsing: text),
            case .object(let aliases)? = members[Key.aliases],
            case .object(let keys)? = members[Key.retiredKeys],
            case .array(let schemas)? = members[Key.formerSchemas]
        else { return nil }
        self.aliases = aliases.compactMapValues {
            if case .string(let name) = $0 { name } else { nil }
        }
        retiredKeys = keys.compactMapValues { if case .integer(let key) = $0 { key } else { nil } }
        formerSchemas = schemas.compactMap {
            if case .string(let schema) = $0 { schema } else { nil }
        }
        if case .array(let fingerprints)? = members[Key.pastFingerprints] {
            pastFingerprints = fingerprints.compactMap {
                if case .string(let fingerprint) = $0 { fingerprint } else { nil }
            }
        }
    }

    var text: String {
        JSONValue.object([
            Key.aliases: .object(aliases.mapValues { .string($0) }),
            Key.retiredKeys: .object(retiredKeys.mapValues { .integer($0) }),
            Key.formerSchemas: .array(formerSchemas.map { .string($0) }),
            Key.pastFingerprints: .array(pastFingerprints.map { .string($0) }),
        ]).text
    }

    /// Whether the store had the schema once, and was migrated to another one.
    func isPast(_ schema: Schema) -> Bool {
        pastFingerprints.contains(schema.fingerprint)
            || formerSchemas.contains(schema.canonicalText)
    }

    /// The record after a migration.
    ///
    /// - Parameter lastKeys: By old table, the last key that was assigned.
    func after(_ mapping: SchemaMapping, lastKeys: [String: Int64]) -> MigrationRecord {
        let old = mapping.old
        var record = self
        for (alias, name) in aliases {
            record.aliases[alias] = old.entity(named: name).flatMap(mapping.successor)?.name
        }
        let layout = Layout(old)
        for entity in old.entities {
            let successor = mapping.successor(of: entity)
            if successor?.name == entity.name { continue }
            record.aliases[entity.name] = successor?.name
            record.retiredKeys[entity.name] = max(
                retiredKeys[entity.name] ?? 0, lastKeys[layout.table(for: entity)] ?? 0)
        }
        for entity in mapping.new.entities { record.aliases[entity.name] = nil }
        record.formerSchemas =
            mapping.isAdditive
            ? Array(
                // A stage may have led back to one of them.
                ([old.canonicalText] + formerSchemas).filter { $0 != mapping.new.canonicalText }
                    .prefix(Self.formerSchemasMax)) : []
        let fingerprint = mapping.new.fingerprint
        record.pastFingerprints = Array(
            ([old.fingerprint] + pastFingerprints).filter { $0 != fingerprint }
                .prefix(Self.pastFingerprintsMax))
        return record
    }
}
