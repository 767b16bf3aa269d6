import LarderModel

// The tables of a store in PostgreSQL. Their names and columns are those of SQLite; constraints and
// types are PostgreSQL's.

/// A table of a store in PostgreSQL.
package struct PostgresTable: Sendable {
    package struct Column: Sendable {
        package let name: String
        /// As PostgreSQL writes it, for example `text COLLATE "C"`.
        package let type: SQL
        package let isRequired: Bool
    }

    package let name: String
    package let columns: [Column]
    package let primaryKey: [String]
    package var constraints: [PostgresConstraint] = []
    /// The sequence of its keys; nil for a table that has no keys of its own.
    package var sequence: String?

    /// The number of keys that a process takes from a sequence at once.
    package static let keysAtOnce: Int64 = 100

    package var createStatements: [SQL] {
        let columns = columns.map {
            "\(name: $0.name) \($0.type)\($0.isRequired ? " NOT NULL" : "")" as SQL
        }
        let table: SQL = """
            CREATE TABLE \(name: name) (\(columns), PRIMARY KEY (\(names: primaryKey)))
            """
        let sequence = sequence.map {
            "CREATE SEQUENCE \(name: $0) AS bigint INCREMENT BY \(Self.keysAtOnce)" as SQL
        }
        return [table] + [sequence].compactMap(\.self)
    }
}

/// A constraint of a table of a store in PostgreSQL, other than its primary key.
package struct PostgresConstraint: Sendable {
    package enum Rule: Sendable {
        /// The column has the key of a row of this table, at the end of a transaction.
        case reference(column: String, table: String)
        /// No two rows have the same values: at any time, or at the end of a transaction.
        case unique(columns: [String], isDeferred: Bool = true)
        case check(SQL)
    }

    package let name: String
    package let rule: Rule

    package func createStatement(_ table: String) -> SQL {
        let constraint: SQL =
            switch rule {
            case .reference(let column, let other):
                """
                FOREIGN KEY (\(name: column)) REFERENCES \(name: other) \
                (\(name: Layout.keyColumn)) DEFERRABLE INITIALLY DEFERRED
                """
            case .unique(let columns, let isDeferred):
                """
                UNIQUE (\(names: columns))\
                \(isDeferred ? " DEFERRABLE INITIALLY DEFERRED" as SQL : "")
                """
            case .check(let test): "CHECK (\(test))"
            }
        return "ALTER TABLE \(name: table) ADD CONSTRAINT \(name: name) \(constraint)"
    }
}

extension Layout {
    package static let catalogTable = "_larder"

    /// The tables of objects, of links, and of the store itself.
    package var postgresTables: [PostgresTable] {
        roots.map(postgresTable) + joinTables.map(postgresTable) + Self.ownPostgresTables
    }

    /// The statements that create a store of PostgreSQL, in an order in which they can run.
    package var postgresStatements: [SQL] {
        let tables = postgresTables
        let constraints = tables.flatMap { table in
            table.constraints.map { $0.createStatement(table.name) }
        }
        return
            (PostgresFunction.all.map(\.createStatement) + tables.flatMap(\.createStatements)
            + constraints + postgresIndexes.map(\.statement)).map(dialect.finished)
    }

    /// The indexes that are not part of a constraint. Those of texts without case and of JSON have
    /// no form in PostgreSQL yet: they only make comparisons faster that are refused.
    package var postgresIndexes: [IndexDefinition] {
        let constraints = Set(postgresTables.flatMap { $0.constraints.map(\.name) })
        let unordered = Set(
            roots.flatMap { root in
                columns(of: root).filter { $0.type.text == "json" }.map {
                    "\(root.name).\($0.name)"
                }
            })
        return indexes.filter { index in
            index.key == .values && !constraints.contains(index.name)
                && !index.columns.contains { unordered.contains("\(index.table).\($0)") }
        }
    }

    /// The parts of the schema that a store in PostgreSQL cannot keep, as nouns.
    package func postgresRefusals(_ converter: ValueConverter) -> [String] {
        let derived = schema.derivations.compactMap { derivation in
            do throws(LarderError) {
                _ = try DerivationPlan(
                    derivation, isOfOneObject: true, layout: self, converter: converter)
                return nil as String?
            } catch {
                return "the derived attribute \(derivation.qualifiedName): \(error.message)"
            }
        }
        let constraints = schema.entities.flatMap { entity in
            entity.declared.uniquenessConstraints.compactMap { names -> String? in
                let constraint = "the uniqueness of \(entity.name).\(names.joined(separator: ", "))"
                if entity.declared.isInsensitive(names) { return "\(constraint) without case" }
                let hasJSON = entity.attributes.contains {
                    names.contains($0.name) && $0.type == .json
                }
                return hasJSON ? constraint : nil
            }
        }
        return derived + constraints
    }

    private func postgresTable(_ root: Entity) -> PostgresTable {
        let table = table(for: root)
        let kinds = kinds(inTableOf: root) ?? [root]
        let required = Set(requiredColumns(of: root))
        // The types of the store's own columns have constraints in them.
        let types: [String: SQL] = [
            Layout.keyColumn: dialect.keyType, Layout.versionColumn: dialect.keyType,
            Layout.entityColumn: dialect.textType,
        ]
        let columns = columns(of: root).map { column in
            PostgresTable.Column(
                name: column.name, type: types[column.name] ?? column.type,
                isRequired: required.contains(column.name))
        }
        var result = PostgresTable(
            name: table, columns: columns, primaryKey: [Layout.keyColumn],
            sequence: "\(table).\(Layout.keyColumn)")
        for entity in kinds {
            result.constraints += references(of: entity) + combinations(of: entity)
            result.constraints += bounds(of: entity)
        }
        return result
    }

    /// The columns that are never NULL.
    private func requiredColumns(of root: Entity) -> [String] {
        let attributes = requiredAttributes(of: root)
        return [Layout.keyColumn, Layout.versionColumn]
            + (kinds(inTableOf: root) != nil ? [Layout.entityColumn] : [])
            + attributes.map { column(for: $0, of: root) }
    }

    /// The attributes whose columns are never NULL. A unique one may be it until the end of a
    /// change set.
    func requiredAttributes(of root: Entity) -> [Attribute] {
        let kinds = kinds(inTableOf: root) ?? [root]
        let unique = Set(kinds.flatMap { $0.declared.uniquenessConstraints.joined() })
        return root.attributes.filter {
            !$0.isOptional && !$0.isDerived && !unique.contains($0.name)
        }
    }

    /// The rule `noAction` of the other side leaves the key of a deleted object in the column.
    private func references(of entity: Entity) -> [PostgresConstraint] {
        declaredToOnes(of: entity).compactMap { relationship, column in
            let inverse = Layout.inverse(of: relationship, in: schema)
            guard inverse?.deleteRule != .noAction,
                let destination = schema.entity(named: relationship.destination)
            else { return nil }
            return PostgresConstraint(
                name: "_key.\(entity.name).\(relationship.name)",
                rule: .reference(column: column, table: table(for: destination)))
        }
    }

    /// The unique combinations, unless they are over inherited properties: such a constraint does
    /// not apply to all rows of the table. A single property has a unique index.
    private func combinations(of entity: Entity) -> [PostgresConstraint] {
        entity.declared.uniquenessConstraints.enumerated().compactMap { number, names in
            guard names.count > 1, !entity.declared.isInsensitive(names),
                names.allSatisfy({ schema.declaringEntity(of: $0, in: entity).name == entity.name })
            else { return nil }
            return PostgresConstraint(
                name: "_unique.\(entity.name).\(number)",
                rule: .unique(columns: columns(named: names, of: entity)))
        }
    }

    private func bounds(of entity: Entity) -> [PostgresConstraint] {
        entity.declared.attributes.compactMap { attribute in
            let column: SQL = "\(name: self.column(for: attribute, of: entity))"
            let validation = attribute.validation
            let tests = [(">=" as SQL, validation.minimum), ("<=", validation.maximum)].compactMap {
                symbol, bound in
                bound.flatMap { try? SQLValue(storing: $0, as: attribute.type) }.map {
                    "\(column) \(symbol) \(Self.literal($0))" as SQL
                }
            }
            guard !tests.isEmpty else { return nil }
            return PostgresConstraint(
                name: "_bounds.\(entity.name).\(attribute.name)",
                rule: .check(tests.joined(separator: " AND ")))
        }
    }

    /// A bound as a constant. The text of a decimal is one of a number, in quotation marks.
    private static func literal(_ value: SQLValue) -> SQL {
        switch value {
        case .real(let real) where real.isInfinite: real < 0 ? "'-Infinity'" : "'Infinity'"
        default: "\(constant: value)"
        }
    }

    private func postgresTable(_ join: JoinTable) -> PostgresTable {
        let names = [Layout.sourceColumn, Layout.targetColumn]
        let ends = ends(of: join)
        return PostgresTable(
            name: join.name,
            columns: (names + join.positionColumns.sorted()).map {
                PostgresTable.Column(name: $0, type: dialect.keyType, isRequired: true)
            },
            primaryKey: names,
            constraints: names.compactMap { name in
                ends[name].map {
                    PostgresConstraint(
                        name: "\(join.name).\(name)_key",
                        rule: .reference(column: name, table: $0))
                }
            })
    }

    /// The tables to which the columns of a join table refer.
    private func ends(of join: JoinTable) -> [String: String] {
        var ends: [String: String] = [:]
        for entity in schema.entities {
            for relationship in entity.relationships {
                guard
                    case .join(join.name, let own, let other, _) =
                        link(for: relationship, of: entity),
                    let destination = schema.entity(named: relationship.destination)
                else { continue }
                ends[own] = table(for: entity)
                ends[other] = table(for: destination)
            }
        }
        return ends
    }
}

// MARK: The store's own tables

extension Layout {
    /// Identifies the transaction of PostgreSQL to which a transaction of the history belongs.
    private static let commitColumn = "commit_id"

    /// The parameters of ``insertTransaction``, and the identifier of the commit.
    package static let insertCommittedTransaction: SQL = """
        INSERT INTO \(name: transactionTable) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// Returns a row if the transaction ?1 has the identifier ?2 of a commit.
    package static let findCommit: SQL = """
        SELECT 1 FROM \(name: transactionTable) WHERE number = ?1 AND \(name: commitColumn) = ?2
        """

    private static var ownPostgresTables: [PostgresTable] {
        let dialect = SQLDialect.postgres
        func column(
            _ name: String, _ type: SQL, isRequired: Bool = true
        ) -> PostgresTable.Column {
            PostgresTable.Column(name: name, type: type, isRequired: isRequired)
        }
        let run = [
            column("kind", "bigint"), column("entity", dialect.textType),
            column("first_key", "bigint"), column("last_key", "bigint"),
            column("properties", dialect.textType, isRequired: false),
        ]
        return [
            PostgresTable(
                name: catalogTable,
                columns: [column("name", dialect.textType), column("value", dialect.textType)],
                primaryKey: ["name"]),
            PostgresTable(
                name: transactionTable,
                columns: [
                    column("number", "bigint"), column("time", dialect.doubleType),
                    column("author", dialect.textType, isRequired: false),
                    column("client", dialect.textType, isRequired: false),
                    column("user", "bigint", isRequired: false),
                    column("process", "bigint", isRequired: false),
                ] + run + [column(commitColumn, "uuid")], primaryKey: ["number"]),
            PostgresTable(
                name: changeTable,
                columns: [column("transaction_number", "bigint"), column("place", "bigint")] + run,
                primaryKey: ["transaction_number", "place"]),
            PostgresTable(
                name: preservedTable,
                columns: [
                    column("transaction_number", "bigint"), column("entity", dialect.textType),
                    column("key", "bigint"), column("property", dialect.textType),
                    column("value", dialect.textType, isRequired: false),
                ], primaryKey: ["transaction_number", "entity", "key", "property"]),
            outcomes(column),
        ]
    }

    private static func outcomes(
        _ column: (String, SQL, Bool) -> PostgresTable.Column
    ) -> PostgresTable {
        let dialect = SQLDialect.postgres
        let texts = ["inserted", "versions", "merged", "affected"].map {
            column($0, dialect.textType, true)
        }
        return PostgresTable(
            name: outcomeTable,
            columns: [
                column("number", "bigint", true), column("user_number", "bigint", true),
                column("user", "bigint", true), column("key", dialect.textType, true),
                column("digest", "bigint", true), column("time", dialect.doubleType, true),
                column("transaction_number", "bigint", false),
                column("deleted", "bigint", true),
            ] + texts, primaryKey: ["number"],
            // The second of two writers that add outcomes of one user waits for the first. With
            // deferred constraints each would wait for the other.
            constraints: ["key", "user_number"].map { name in
                PostgresConstraint(
                    name: "\(outcomeTable).user.\(name)",
                    rule: .unique(columns: ["user", name], isDeferred: false))
            }, sequence: outcomeSequence)
    }
}
