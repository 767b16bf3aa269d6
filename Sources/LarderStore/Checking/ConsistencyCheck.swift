import LarderModel
import LarderSQL

/// The rules for a store's tables that SQLite does not check: a list of SELECT statements, each of
/// which finds nothing in a consistent store.
///
/// A pure function of the layout. A relationship is stored once, so its two sides cannot disagree.
/// Possible violations are: a key of no object, a position that is missing, superfluous or used
/// twice, and a key that could be assigned again.
struct ConsistencyCheck {
    /// One SELECT. Its first column is the key of the inconsistent object, or nil.
    struct TableCheck {
        /// `Article.category`.
        let location: String
        /// nil if the violation does not belong to an object.
        let entityName: String?
        let sql: SQL
        let message: String
    }

    let layout: Layout
    /// Whether the history and the outcomes have today's tables. A store of an older format that is
    /// opened for reading only has not.
    let isOfThisFormat: Bool

    /// The tables, for SQLite's own check.
    var tables: [String] {
        layout.roots.map(layout.table) + layout.joinTables.map(\.name)
            + layout.searchTables.flatMap(\.storageTables)
            + (isOfThisFormat ? Layout.historyTables + [Layout.outcomeTable] : [])
    }

    var checks: [TableCheck] {
        layout.schema.entities.flatMap(checks) + (isOfThisFormat ? history + outcomes : [])
    }

    private func checks(of entity: Entity) -> [TableCheck] {
        var checks: [TableCheck] = []
        if entity.parent == nil {
            checks += [versions(of: entity), spentKeys(of: entity)]
            checks += kinds(inTableOf: entity)
        }
        for (relationship, column) in layout.declaredToOnes(of: entity) {
            checks += toOne(relationship, column: column, of: entity)
        }
        for relationship in entity.declared.relationships {
            checks += join(for: relationship, of: entity)
        }
        return checks
    }

    // MARK: Objects

    private func versions(of entity: Entity) -> TableCheck {
        TableCheck(
            location: entity.name, entityName: entity.name,
            sql: "SELECT \(key) FROM \(table(entity)) WHERE \(name: Layout.versionColumn) < 1",
            message: "its version is not positive")
    }

    /// A key above the greatest that the table has recorded would be assigned a second time.
    private func spentKeys(of entity: Entity) -> TableCheck {
        let recorded: SQL =
            "SELECT seq FROM sqlite_sequence WHERE name = \(literal: layout.table(for: entity))"
        return TableCheck(
            location: entity.name, entityName: entity.name,
            sql: """
                SELECT \(key) FROM \(table(entity)) \
                WHERE \(key) < 1 OR \(key) > COALESCE((\(recorded)), 0)
                """,
            message: "its key is outside of the range of assigned keys")
    }

    /// Each object belongs to an entity that is not abstract and has values of its properties only.
    private func kinds(inTableOf root: Entity) -> [TableCheck] {
        guard let kinds = layout.kinds(inTableOf: root) else { return [] }
        let column: SQL = "\(name: Layout.entityColumn)"
        let known = layout.concreteNames(of: root).map { "\(literal: $0)" as SQL }
        let unknown = TableCheck(
            location: root.name, entityName: root.name,
            sql: "SELECT \(key) FROM \(table(root)) WHERE \(column) NOT IN (\(known))",
            message: "its entity does not exist or is abstract")
        return [unknown]
            + kinds.dropFirst().compactMap { entity in
                let columns = layout.declaredColumns(of: entity)
                guard !columns.isEmpty else { return nil }
                let hasValue = columns.map { "\(name: $0.name) IS NOT NULL" as SQL }
                return TableCheck(
                    location: entity.name, entityName: root.name,
                    sql: """
                        SELECT \(key) FROM \(table(root)) \
                        WHERE NOT (\(isOfKind(entity, column))) \
                        AND (\(hasValue, separator: " OR "))
                        """,
                    message: "it has a value of this entity but is not one of its objects")
            }
    }

    private func isOfKind(_ entity: Entity, _ column: SQL) -> SQL {
        let names = layout.concreteNames(of: entity).map { "\(literal: $0)" as SQL }
        return "\(column) IN (\(names))"
    }

    /// Selects the objects of an entity, by the alias of their rows; empty if the table has no
    /// others.
    private func kindCondition(_ entity: Entity, _ alias: SQL) -> SQL {
        guard layout.kinds(inTableOf: entity) != nil, entity.parent != nil else { return "" }
        return " AND \(isOfKind(entity, "\(alias).\(name: Layout.entityColumn)"))"
    }

    // MARK: Relationships

    private func toOne(
        _ relationship: Relationship, column: String, of entity: Entity
    ) -> [TableCheck] {
        let location = "\(entity.name).\(relationship.name)"
        let reference: SQL = "\(name: column)"
        func check(_ condition: SQL, _ message: String) -> TableCheck {
            TableCheck(
                location: location, entityName: entity.name,
                sql: "SELECT \(key) FROM \(table(entity)) AS o WHERE \(condition)",
                message: message)
        }
        var checks: [TableCheck] = []
        // The rule noAction keeps the key of a deleted object.
        if Layout.inverse(of: relationship, in: layout.schema)?.deleteRule != .noAction {
            checks.append(
                check(
                    """
                    \(reference) IS NOT NULL AND NOT EXISTS \
                    (SELECT 1 FROM \(table(destination(relationship))) AS d \
                    WHERE d.\(key) = o.\(reference)\
                    \(kindCondition(destination(relationship), "d")))
                    """,
                    "it leads to an object that is not there"))
        }
        if !relationship.isOptional {
            checks.append(
                check(
                    "\(reference) IS NULL\(kindCondition(entity, "o"))",
                    "the required reference is nil"))
        }
        guard let name = layout.positionColumn(of: relationship, column) else { return checks }
        let position: SQL = "\(name: name)"
        checks.append(
            check(
                "(\(reference) IS NULL) <> (\(position) IS NULL)",
                "its position in an ordered list is missing or superfluous"))
        checks.append(
            check(
                """
                EXISTS (SELECT 1 FROM \(table(entity)) AS s WHERE s.\(reference) = o.\(reference) \
                AND s.\(position) = o.\(position) AND s.\(key) < o.\(key))
                """,
                "its position in an ordered list is used twice"))
        return checks
    }

    /// Checks the pairs of a join table from one side. Each side is checked with its own entity.
    private func join(for relationship: Relationship, of entity: Entity) -> [TableCheck] {
        guard
            case .join(let table, let ownColumn, let otherColumn, let position) =
                layout.link(for: relationship, of: entity)
        else { return [] }
        let location = "\(entity.name).\(relationship.name)"
        let pairs: SQL = "\(name: table)"
        let (own, other): (SQL, SQL) = ("\(name: ownColumn)", "\(name: otherColumn)")
        func check(_ condition: SQL, _ message: String) -> TableCheck {
            TableCheck(
                location: location, entityName: entity.name,
                sql: "SELECT \(own) FROM \(pairs) AS p WHERE \(condition)", message: message)
        }
        var checks = [
            check(
                """
                NOT EXISTS (SELECT 1 FROM \(self.table(destination(relationship))) AS d \
                WHERE d.\(key) = p.\(other)\(kindCondition(destination(relationship), "d")))
                """,
                "it leads to an object that is not there"),
            check(
                """
                NOT EXISTS (SELECT 1 FROM \(self.table(entity)) AS o WHERE o.\(key) = p.\(own)\
                \(kindCondition(entity, "o")))
                """,
                "it belongs to an object that does not exist"),
        ]
        if let position = position.map({ "\(name: $0)" as SQL }) {
            checks.append(
                check(
                    """
                    EXISTS (SELECT 1 FROM \(pairs) AS s WHERE s.\(own) = p.\(own) \
                    AND s.\(position) = p.\(position) AND s.\(other) < p.\(other))
                    """,
                    "two objects have the same position in its list"))
        }
        if relationship.inverse == relationship.name, relationship.destination == entity.name {
            checks.append(
                check(
                    """
                    NOT EXISTS (SELECT 1 FROM \(pairs) AS s \
                    WHERE s.\(own) = p.\(other) AND s.\(other) = p.\(own))
                    """,
                    "the inverse link is missing"))
        }
        return checks
    }

    // MARK: History

    private var history: [TableCheck] {
        func check(_ sql: SQL, _ message: String) -> TableCheck {
            TableCheck(location: "history", entityName: nil, sql: sql, message: message)
        }
        let transactions: SQL = "\(name: Layout.transactionTable)"
        let changes: SQL = "\(name: Layout.changeTable)"
        // The remaining rows of deleted transactions will be deleted, too.
        let isLeft: SQL = "transaction_number > COALESCE((\(Catalog.readDeletedHistory)), 0)"
        // Each table separately: SQLite would read the whole union for each value.
        func hasNoChange(_ number: SQL, _ table: SQL) -> SQL {
            """
            NOT EXISTS (SELECT 1 FROM \(table) AS c \
            WHERE c.\(number) = p.transaction_number AND c.kind IN (2, 3) \
            AND c.entity = p.entity AND p.key BETWEEN c.first_key AND c.last_key)
            """
        }
        return [
            check(
                "SELECT NULL FROM \(transactions) WHERE number < 1",
                "the number of a transaction is not positive"),
            check(
                """
                SELECT NULL FROM \(changes) WHERE \(isLeft) AND (place < 1 OR NOT EXISTS \
                (SELECT 1 FROM \(transactions) WHERE number = transaction_number))
                """,
                "a change belongs to no transaction"),
            check(
                """
                SELECT NULL FROM \(Layout.everyChange) \
                WHERE kind NOT BETWEEN 1 AND 3 OR first_key < 1 OR last_key < first_key
                """,
                "a change has an unknown kind or no object"),
            check(
                """
                SELECT NULL FROM \(name: Layout.preservedTable) AS p \
                WHERE \(isLeft) AND \(hasNoChange("number", transactions)) \
                AND \(hasNoChange("transaction_number", changes))
                """,
                "a former value belongs to no object that was updated or deleted"),
        ]
    }

    private var outcomes: [TableCheck] {
        [
            TableCheck(
                location: "outcomes", entityName: nil,
                sql: """
                    SELECT NULL FROM \(name: Layout.outcomeTable) \
                    WHERE transaction_number > COALESCE((\(Layout.lastTransaction)), 0)
                    """,
                message: "it refers to a transaction after the last one")
        ]
    }

    // MARK: Names

    private var key: SQL { "\(name: Layout.keyColumn)" }

    private func table(_ entity: Entity) -> SQL { "\(name: layout.table(for: entity))" }

    private func destination(_ relationship: Relationship) -> Entity {
        guard let entity = layout.schema.entity(named: relationship.destination) else {
            preconditionFailure("a checked schema has no dangling destination")
        }
        return entity
    }
}
