import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

/// The description of a store in its database: the table `_larder`.
struct PostgresCatalog {
    /// The format that this program writes, and the newest that it reads.
    static let formatVersion: Int64 = 1

    let identifier: UUID
    let schema: Schema
    /// The time of creation in microseconds since 2001.
    let historyEpoch: Int64

    private enum Name {
        static let store = "store"
        static let schema = "schema"
        static let created = "created"
        static let format = "format"
    }

    init(identifier: UUID, schema: Schema, created: Date) {
        self.identifier = identifier
        self.schema = schema
        historyEpoch = Int64(clamped: created.timeIntervalSinceReferenceDate * 1e6)
    }

    /// The rows of the table.
    var rows: [(name: String, value: String)] {
        [
            (Name.format, String(Self.formatVersion)), (Name.store, identifier.uuidString),
            (Name.schema, schema.canonicalText), (Name.created, String(historyEpoch)),
        ]
    }

    /// - Throws: `storeTooNew`; `storageFailed` for rows that are not those of a store.
    init(_ rows: [[PostgresValue]]) throws(LarderError) {
        var values: [String: String] = [:]
        for row in rows {
            if case (.text(let name)?, .text(let value)?) = (row.first, row.last) {
                values[name] = value
            }
        }
        guard let format = values[Name.format].flatMap({ Int64($0) }),
            let identifier = values[Name.store].flatMap({ UUID(uuidString: $0) }),
            let text = values[Name.schema],
            let epoch = values[Name.created].flatMap({ Int64($0) })
        else {
            throw LarderError(
                .storageFailed, "the table _larder does not describe a store",
                hint: "undo the change that was made to it by other means")
        }
        guard format <= Self.formatVersion else {
            throw LarderError(
                .storeTooNew,
                "the store has format \(format), and this program reads formats up to "
                    + "\(Self.formatVersion)", hint: "use a newer larderd")
        }
        do throws(SchemaError) { schema = try SchemaFile.schema(parsing: text) } catch {
            throw error.larderError
        }
        self.identifier = identifier
        historyEpoch = epoch
    }
}

/// The content of a schema of a database as sorted lines, of which each describes a table, a
/// column, a constraint and so on. Those of a layout and those of the database are compared.
struct PostgresObjects: Equatable {
    let lines: [String]

    init(_ lines: [String]) { self.lines = lines.sorted() }

    /// The content of a store with this layout.
    init(_ layout: Layout) {
        var lines: [String] = []
        for table in layout.postgresTables {
            let name = PostgresName.shortened(table.name)
            lines.append("table \(name)")
            for column in table.columns {
                let isRequired = column.isRequired ? " not null" : ""
                let type = column.type.text.replacing(" COLLATE \"C\"", with: " C")
                lines.append(
                    "column \(name) \(PostgresName.shortened(column.name)) \(type)\(isRequired)")
            }
            lines.append("constraint \(name) p \(Self.list(table.primaryKey))")
            for constraint in table.constraints { lines.append(Self.line(constraint, name)) }
            if let sequence = table.sequence {
                lines.append("sequence \(PostgresName.shortened(sequence))")
            }
        }
        for index in layout.postgresIndexes {
            let unique = index.isUnique ? " unique" : ""
            lines.append(
                "index \(PostgresName.shortened(index.name)) "
                    + "\(PostgresName.shortened(index.table))\(unique) \(Self.list(index.columns))")
        }
        for function in PostgresFunction.all {
            lines.append(
                "function \(function.name) \(function.argument.text) \(function.body.text)")
        }
        self.init(lines)
    }

    private static func list(_ names: [String]) -> String {
        names.map(PostgresName.shortened).joined(separator: ",")
    }

    private static func line(_ constraint: PostgresConstraint, _ table: String) -> String {
        switch constraint.rule {
        case .reference(let column, let other):
            "constraint \(table) f \(list([column])) \(PostgresName.shortened(other)) deferred"
        case .unique(let columns, let isDeferred):
            "constraint \(table) u \(list(columns))\(isDeferred ? " deferred" : "")"
        case .check: "check \(table) \(PostgresName.shortened(constraint.name))"
        }
    }

    /// The first lines that only one of them has, as sentences.
    func differences(from expected: PostgresObjects) -> [String] {
        let (found, wanted) = (Set(lines), Set(expected.lines))
        return lines.filter { !wanted.contains($0) }.map { "it has: \($0)" }
            + expected.lines.filter { !found.contains($0) }.map { "it lacks: \($0)" }
    }

    /// Reads the lines of the schema `$1` of a database. Each line is a text, and the type of what
    /// it describes is its first word.
    static let query = """
        WITH s AS (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1), \
        names AS (SELECT c.oid AS relation, i AS place, a.attname FROM pg_catalog.pg_class c \
        JOIN s ON c.relnamespace = s.oid JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid \
        CROSS JOIN LATERAL (SELECT a.attnum AS i) AS n) \
        SELECT CASE c.relkind WHEN 'r' THEN 'table ' WHEN 'S' THEN 'sequence ' \
        ELSE 'relation of kind ' || CAST(c.relkind AS text) || ' ' END || c.relname \
        || CASE WHEN c.relpersistence <> 'p' THEN ' unlogged' ELSE '' END \
        || CASE WHEN c.relhasrules THEN ' with rules' ELSE '' END \
        || CASE WHEN c.relrowsecurity THEN ' with policies' ELSE '' END \
        || CASE WHEN c.relispartition OR c.relhassubclass THEN ' with parts' ELSE '' END \
        FROM pg_catalog.pg_class c JOIN s ON c.relnamespace = s.oid \
        WHERE c.relkind NOT IN ('i', 'I', 't') \
        UNION ALL SELECT 'column ' || c.relname || ' ' || a.attname || ' ' \
        || pg_catalog.format_type(a.atttypid, a.atttypmod) \
        || COALESCE((SELECT ' ' || l.collname FROM pg_catalog.pg_collation l \
        WHERE l.oid = a.attcollation), '') \
        || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END \
        || CASE WHEN a.atthasdef OR a.attidentity <> '' OR a.attgenerated <> '' \
        THEN ' with a default' ELSE '' END \
        FROM pg_catalog.pg_class c JOIN s ON c.relnamespace = s.oid \
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 \
        AND NOT a.attisdropped WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') \
        UNION ALL SELECT CASE WHEN k.contype = 'c' THEN 'check ' || c.relname || ' ' || k.conname \
        ELSE 'constraint ' || c.relname || ' ' || CAST(k.contype AS text) || ' ' \
        || COALESCE((SELECT pg_catalog.string_agg(n.attname, ',' ORDER BY o.place) \
        FROM pg_catalog.unnest(k.conkey) WITH ORDINALITY AS o (number, place) \
        JOIN names n ON n.relation = k.conrelid AND n.place = o.number), '') \
        || COALESCE((SELECT ' ' || f.relname FROM pg_catalog.pg_class f \
        WHERE f.oid = k.confrelid), '') \
        || CASE WHEN k.condeferred THEN ' deferred' ELSE '' END END \
        || CASE WHEN NOT k.convalidated THEN ' not valid' ELSE '' END \
        FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid \
        JOIN s ON c.relnamespace = s.oid \
        UNION ALL SELECT 'index ' || c.relname || ' ' || t.relname \
        || CASE WHEN x.indisunique THEN ' unique' ELSE '' END || ' ' \
        || COALESCE((SELECT pg_catalog.string_agg(COALESCE(n.attname, '?'), ',' ORDER BY o.place) \
        FROM pg_catalog.unnest(x.indkey) WITH ORDINALITY AS o (number, place) \
        LEFT JOIN names n ON n.relation = x.indrelid AND n.place = o.number), '') \
        || CASE WHEN x.indpred IS NOT NULL OR NOT x.indisvalid OR m.amname <> 'btree' \
        OR pg_catalog.array_position(CAST(x.indoption AS int2[]), CAST(0 AS int2)) IS NULL \
        THEN ' with options' ELSE '' END \
        FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON c.oid = x.indexrelid \
        JOIN pg_catalog.pg_class t ON t.oid = x.indrelid JOIN s ON c.relnamespace = s.oid \
        JOIN pg_catalog.pg_am m ON m.oid = c.relam \
        WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k \
        WHERE k.conindid = c.oid AND k.contype IN ('p', 'u', 'x')) \
        UNION ALL SELECT 'function ' || p.proname || ' ' \
        || pg_catalog.pg_get_function_identity_arguments(p.oid) || ' ' || p.prosrc \
        FROM pg_catalog.pg_proc p JOIN s ON p.pronamespace = s.oid \
        UNION ALL SELECT 'trigger ' || g.tgname || ' ' || c.relname \
        FROM pg_catalog.pg_trigger g JOIN pg_catalog.pg_class c ON c.oid = g.tgrelid \
        JOIN s ON c.relnamespace = s.oid WHERE NOT g.tgisinternal \
        UNION ALL SELECT 'type ' || y.typname FROM pg_catalog.pg_type y \
        JOIN s ON y.typnamespace = s.oid WHERE y.typtype IN ('d', 'e', 'r', 'm')
        """
}
