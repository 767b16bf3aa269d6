import LarderModel
import LarderSQL

/// The last keys that were assigned, which a migration keeps: no key is ever used again.
///
/// That also holds for the names of entities that were removed or renamed, because identifiers have
/// the name. An entity that takes such a name begins after the keys that it had.
struct KeySequences {
    /// By old table.
    let former: [String: Int64]
    /// By new table.
    private var sequences: [String: Int64] = [:]

    /// Reads the sequences before any table changes.
    init(
        _ plan: MigrationPlan, _ catalog: Catalog, _ connection: Connection
    ) throws(SQLError) {
        former = try Self.sequences(connection)
        for table in plan.tables {
            var last = table.sources.map { former[$0] ?? 0 }.max() ?? 0
            let kinds = [table.root] + plan.new.schema.subentities(of: table.root.name)
            for entity in kinds {
                last = max(last, catalog.record.retiredKeys[entity.name] ?? 0)
                // The name belonged to the objects of another table until now.
                if let old = plan.old.schema.entity(named: entity.name) {
                    last = max(last, former[plan.old.table(for: old)] ?? 0)
                }
            }
            sequences[table.name] = last
        }
    }

    private static func sequences(_ connection: Connection) throws(SQLError) -> [String: Int64] {
        var sequences: [String: Int64] = [:]
        let rows = try connection.prepare("SELECT name, seq FROM sqlite_sequence")
        while try rows.step() { sequences[rows.string(at: 0)] = max(0, rows.int64(at: 1)) }
        return sequences
    }

    /// Stores them for the tables of the new layout.
    func store(on connection: Connection) throws(SQLError) {
        for (table, last) in sequences.sorted(by: { $0.key < $1.key }) {
            try connection.execute(
                "DELETE FROM sqlite_sequence WHERE name = \(literal: table)")
            guard last > 0 else { continue }
            try connection.execute(
                "INSERT INTO sqlite_sequence (name, seq) VALUES (\(literal: table), \(last))")
        }
    }
}
