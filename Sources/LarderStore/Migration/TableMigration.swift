import LarderModel
import LarderSQL

/// An entity with objects of its own, and the one that it continues.
struct KindMigration: Sendable {
    let entity: Entity
    let origin: Entity
}

/// The values of a column in the rows of one kind.
enum ColumnValue: Hashable, Sendable {
    /// The kind does not have the property.
    case absent
    case null
    case constant(SQLValue)
    /// The stored form as it is, in a column of the old table.
    case column(String)
    /// The old column, and the number of the conversion.
    case converted(String, Int)
}

struct ColumnMigration: Sendable {
    let name: String
    /// In the order of the table's kinds.
    let values: [ColumnValue]
}

/// How one table of the new layout comes about.
struct TableMigration: Sendable {
    enum Method: Sendable {
        case create
        /// SQLite changes the description of the table, and no row.
        case alter(TableAlteration)
        case rewrite
    }

    let root: Entity
    let name: String
    let kinds: [KindMigration]
    /// The old tables of its rows.
    let sources: [String]
    let columns: [ColumnMigration]
    let method: Method

    init(
        root: Entity, name: String, kinds: [KindMigration], sources: [String],
        columns: [ColumnMigration], old: Layout, new: Layout
    ) {
        self.root = root
        self.name = name
        self.kinds = kinds
        self.sources = sources
        self.columns = columns
        guard !sources.isEmpty else {
            method = .create
            return
        }
        let alteration = TableAlteration(root, kinds, sources, columns, old: old, new: new)
        method = alteration.map { .alter($0) } ?? .rewrite
    }

    var isAltered: Bool {
        if case .alter = method { true } else { false }
    }

    var isRewritten: Bool {
        if case .rewrite = method { true } else { false }
    }

    /// The statements that copy the rows of the old tables, one for each kind and source.
    func copyStatements(into target: String, old: Layout, sharesTable: Bool) -> [SQL] {
        kinds.indices.map { index in
            let kind = kinds[index]
            let source: SQL = "\(name: old.table(for: kind.origin))"
            var names = [Layout.keyColumn, Layout.versionColumn]
            var values: [SQL] = names.map { "\(name: $0)" }
            if sharesTable {
                names.append(Layout.entityColumn)
                values.append("\(literal: kind.entity.name)")
            }
            for column in columns {
                guard let value = value(of: column.values[index]) else { continue }
                names.append(column.name)
                values.append(value)
            }
            let condition: SQL =
                old.kinds(inTableOf: kind.origin) == nil
                ? ""
                : " WHERE \(name: Layout.entityColumn) = \(literal: kind.origin.name)"
            return """
                INSERT INTO \(name: target) (\(names: names)) \
                SELECT \(values) FROM \(source)\(condition) ORDER BY \(name: Layout.keyColumn)
                """
        }
    }

    private func value(of value: ColumnValue) -> SQL? {
        switch value {
        case .absent, .null: nil
        case .constant(let constant): "\(constant: constant)"
        case .column(let column): "\(name: column)"
        case .converted(let column, let number):
            """
            \(function: ValueConversions.function)\
            (\(number), \(name: Layout.keyColumn), \(name: column))
            """
        }
    }
}

/// The changes of a table's description that leave its rows as they are, except that removed
/// columns are cut out of them.
struct TableAlteration: Sendable {
    let source: String
    /// SQLite rewrites the rows for each of them, in a quarter of the time that a new table with
    /// its indexes takes.
    private(set) var droppedColumns: [String] = []
    /// By the new name, the old one.
    private(set) var renamedColumns: [(new: String, old: String)] = []
    private(set) var addedColumns: [(name: String, value: SQLValue?)] = []
    /// The name of the entity of all rows, if the table had none other.
    private(set) var addedEntityName: String?
    private(set) var renamedKinds: [(new: String, old: String)] = []

    /// - Returns: nil if rows have to be written.
    init?(
        _ root: Entity, _ kinds: [KindMigration], _ sources: [String],
        _ columns: [ColumnMigration], old: Layout, new: Layout
    ) {
        guard sources.count == 1, let first = kinds.first else { return nil }
        source = sources[0]
        let oldRoot = old.schema.root(of: first.origin)
        // A table that gives rows to two new ones is read by both.
        let oldKinds = old.kinds(inTableOf: oldRoot)
        let stays = kinds.count == (oldKinds ?? [oldRoot]).count { !$0.isAbstract }
        guard stays else { return nil }
        switch (oldKinds, new.kinds(inTableOf: root)) {
        case (nil, nil): break
        case (nil, _): addedEntityName = first.entity.name
        case (_, nil): return nil
        default:
            renamedKinds = kinds.filter { $0.entity.name != $0.origin.name }
                .map { ($0.entity.name, $0.origin.name) }
        }
        var unused = Set(old.columns(of: oldRoot).map(\.name))
        unused.subtract([Layout.keyColumn, Layout.versionColumn, Layout.entityColumn])
        for column in columns {
            let values = Set(column.values)
            let present = values.subtracting([.absent])
            switch present.first {
            case .column(let former)? where present.count == 1:
                // Rows of the other kinds have no value in the old column either.
                let strangers = zip(kinds, column.values).filter { $1 == .absent }
                let isForeign = strangers.allSatisfy { kind, _ in
                    !old.schema.lineage(of: kind.origin).contains {
                        old.declaredColumns(of: $0).contains { $0.name == former }
                    }
                }
                guard isForeign, unused.remove(former) != nil else { return nil }
                if former != column.name { renamedColumns.append((column.name, former)) }
            case nil: addedColumns.append((column.name, nil))
            case .null? where present.count == 1: addedColumns.append((column.name, nil))
            case .constant(let value)? where values.count == 1:
                addedColumns.append((column.name, value))
            default: return nil
            }
        }
        droppedColumns = unused.sorted()
    }
}
