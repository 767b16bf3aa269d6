import LarderModel
import LarderStore

/// Proposes entities for the tables of an SQLite file: columns become attributes, foreign keys
/// relationships with an inverse, and unique indexes constraints.
struct DatabaseSchema {
    private(set) var entities: [Entity] = []
    private(set) var report: [[Value]] = []
    /// Notes on the parts of the database that the entities do not express.
    private(set) var notes: [String] = []

    private let tables: [DatabaseTable]
    private var entityNames: [String: String] = [:]
    private var properties: [String: InferredNames] = [:]
    /// The names of the attributes and relationships of each table, by those of its columns.
    private var columnNames: [String: [String: String]] = [:]
    private var relationships: [String: [Relationship]] = [:]

    init(
        _ file: DatabaseFile, path: String, _ names: inout InferredNames
    ) throws(LarderError) {
        tables = try file.tables()
        for table in tables { entityNames[table.name] = names.entity(table.name) }
        for table in tables { nameColumns(of: table) }
        for table in tables { addRelationships(of: table) }
        for table in tables { try addEntity(table, file) }
        notes += commands(path)
    }

    /// The commands that import the tables, those that others refer to first.
    private func commands(_ path: String) -> [String] {
        var rest = tables
        var done: Set<String> = []
        var commands: [String] = []
        while !rest.isEmpty {
            let index =
                rest.firstIndex { table in
                    table.foreignKeys.filter(isRelationship).allSatisfy {
                        done.contains($0.table) || $0.table == table.name
                    }
                } ?? 0
            let table = rest.remove(at: index)
            done.insert(table.name)
            commands.append(command(table, path))
        }
        return commands
    }

    private func command(_ table: DatabaseTable, _ path: String) -> String {
        var words = [
            "larder import", entityNames[table.name] ?? "", InferenceReport.quoted(path),
            "--table \(InferenceReport.quoted(table.name))",
        ]
        for column in table.columns {
            var property = columnNames[table.name]?[column.name] ?? ""
            if let key = table.foreignKeys.first(where: {
                isRelationship($0) && $0.columns[0] == column.name
            }) {
                let target = tables.first { $0.name == key.table }
                let unique = key.destinations.first ?? target?.primaryKey.first ?? ""
                property += ".\(columnNames[key.table]?[unique] ?? unique)"
            }
            guard property != column.name else { continue }
            words.append("--map \(InferenceReport.quoted("\(column.name)=\(property)"))")
        }
        return words.joined(separator: " ")
    }

    /// The foreign keys of one column, which become relationships.
    private func isRelationship(_ key: DatabaseTable.ForeignKey) -> Bool {
        key.columns.count == 1 && entityNames[key.table] != nil
    }

    private mutating func nameColumns(of table: DatabaseTable) {
        var names = InferredNames()
        let keys = Set(table.foreignKeys.filter(isRelationship).map { $0.columns[0] })
        for (index, column) in table.columns.enumerated() {
            var name = column.name
            // The relationship of `author_id` is `author`.
            if keys.contains(name) {
                for ending in ["_id", "Id", "ID"] where name.hasSuffix(ending) && name.count > 2 {
                    name.removeLast(ending.count)
                    break
                }
            }
            columnNames[table.name, default: [:]][column.name] = names.property(
                name, position: index)
        }
        properties[table.name] = names
    }

    private mutating func addRelationships(of table: DatabaseTable) {
        guard let source = entityNames[table.name] else { return }
        for key in table.foreignKeys {
            guard isRelationship(key), let destination = entityNames[key.table],
                let name = columnNames[table.name]?[key.columns[0]]
            else {
                notes.append(
                    "\(table.name): the foreign key of \(key.columns.joined(separator: ", ")) to "
                        + "\(key.table) stays an attribute")
                continue
            }
            let isRequired =
                table.columns.first { $0.name == key.columns[0] }?.isRequired ?? false
            var names = properties[key.table] ?? InferredNames()
            let inverse = names.property(
                source.prefix(1).lowercased() + source.dropFirst() + "s", position: 0)
            properties[key.table] = names
            relationships[table.name, default: []].append(
                Relationship(
                    name: name, destination: destination, isOptional: !isRequired,
                    inverse: inverse))
            let rule: Relationship.DeleteRule =
                switch key.onDelete {
                case "CASCADE": .cascade
                case "SET NULL", "SET DEFAULT": .nullify
                default: .deny
                }
            relationships[key.table, default: []].append(
                Relationship(
                    name: inverse, destination: source, isToMany: true, inverse: name,
                    deleteRule: rule))
        }
    }

    private mutating func addEntity(
        _ table: DatabaseTable, _ file: DatabaseFile
    ) throws(LarderError) {
        let names = columnNames[table.name] ?? [:]
        let entity = entityNames[table.name] ?? table.name
        let unique = ([table.primaryKey] + table.unique).filter { !$0.isEmpty }
        let single = Set(unique.filter { $0.count == 1 }.map { $0[0] })
        let keys = Set(table.foreignKeys.filter(isRelationship).map { $0.columns[0] })
        var attributes: [Attribute] = []
        for column in table.columns {
            let seen = try file.kinds(of: column.name, in: table.name)
            let name = names[column.name] ?? column.name
            let type = Self.type(column.declaredType, seen.kinds)
            let isRelationship = keys.contains(column.name)
            report.append([
                .string(entity), .string("\(table.name).\(column.name)"), .string(name),
                .string(isRelationship ? "relationship" : type.rawValue),
                .int(seen.rows - seen.nils), .int(seen.nils), .string("\(seen.distinct)"), .null,
                .string(
                    (column.declaredType.isEmpty ? "no declared type" : column.declaredType)
                        + "; " + seen.kinds.sorted().joined(separator: ", ")),
            ])
            if isRelationship { continue }
            // SQLite's primary keys may be nil unless they are row numbers.
            let isOptional =
                seen.nils > 0 || !column.isRequired && !table.primaryKey.contains(column.name)
            attributes.append(
                Attribute(
                    name: name, type: type, isOptional: isOptional,
                    unique: single.contains(column.name) && type != .json ? .exact : nil))
        }
        entities.append(
            Entity(
                name: entity, attributes: attributes,
                relationships: relationships[table.name] ?? [],
                uniquenessConstraints: unique.filter {
                    $0.count > 1 || keys.contains($0[0])
                }.map { $0.map { names[$0] ?? $0 } }))
    }

    /// The type of a column: the declared one if all values have it, or one for all of them.
    private static func type(_ declared: String, _ kinds: Set<String>) -> AttributeType {
        if kinds.isSubset(of: ["integer"]) {
            if declared.contains("BOOL") { return .bool }
            if kinds.isEmpty { return type(declared) }
            return .int64
        }
        if kinds.isSubset(of: ["integer", "real"]) { return .double }
        if kinds == ["text"] { return declared.contains("JSON") ? .json : .string }
        if kinds == ["blob"] { return .data }
        return .json
    }

    /// The type of a column without values, by SQLite's rules of affinity.
    private static func type(_ declared: String) -> AttributeType {
        if declared.contains("INT") { return .int64 }
        if declared.contains("CHAR") || declared.contains("CLOB") || declared.contains("TEXT") {
            return .string
        }
        if declared.contains("BLOB") { return .data }
        if declared.contains("REAL") || declared.contains("FLOA") || declared.contains("DOUB") {
            return .double
        }
        return declared.isEmpty ? .string : .decimal
    }
}
