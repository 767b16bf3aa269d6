import LarderModel

/// What must hold of a store's tables beyond what SQLite sees to: a list of questions, each a
/// SELECT that finds nothing in a sound store.
///
/// A pure function of the layout. The two sides of a relationship cannot disagree, since it is
/// stored once; what can go wrong is a key that leads nowhere, a position that is missing, stray or
/// taken twice, and a key that could be given away again.
struct ConsistencyCheck {
    /// One SELECT. Its first column is the key of the object at fault, or nil.
    struct Question {
        /// `Article.category`.
        let place: String
        /// nil where the fault is no object's.
        let entityName: String?
        let sqlText: String
        let message: String
    }

    let layout: Layout
    /// Whether the store has the tables that are the same in every store as they are today; only
    /// a store of an older format that is only read has not.
    let isOfThisFormat: Bool

    /// The tables, for SQLite's own check.
    var tables: [String] {
        layout.roots.map(layout.table) + layout.joinTables.map(\.name)
            + (isOfThisFormat ? Layout.historyTables + [Layout.outcomeTable] : [])
    }

    var questions: [Question] {
        layout.schema.entities.flatMap { entity in
            (entity.parent == nil
                ? [versions(of: entity), spentKeys(of: entity)] + kinds(inTableOf: entity) : [])
                + layout.declaredToOnes(of: entity).flatMap {
                    toOne($0, column: $1, of: entity)
                } + entity.declared.relationships.flatMap { join(for: $0, of: entity) }
        } + (isOfThisFormat ? history + outcomes : [])
    }

    // MARK: Objects

    private func versions(of entity: Entity) -> Question {
        let version = SQL.quoted(Layout.versionColumn)
        return Question(
            place: entity.name, entityName: entity.name,
            sqlText: "SELECT \(key) FROM \(table(entity)) WHERE \(version) < 1",
            message: "its version is not positive")
    }

    /// A key above what the table has noted as given would be given a second time.
    private func spentKeys(of entity: Entity) -> Question {
        let noted =
            "SELECT seq FROM sqlite_sequence WHERE name = \(literal(layout.table(for: entity)))"
        return Question(
            place: entity.name, entityName: entity.name,
            sqlText: "SELECT \(key) FROM \(table(entity)) "
                + "WHERE \(key) < 1 OR \(key) > COALESCE((\(noted)), 0)",
            message: "its key is outside of those that were given out")
    }

    /// Each object is of an entity that has objects, and has values of that one's properties only.
    private func kinds(inTableOf root: Entity) -> [Question] {
        guard let kinds = layout.kinds(inTableOf: root) else { return [] }
        let column = SQL.quoted(Layout.entityColumn)
        let known = layout.concreteNames(of: root).map(literal).joined(separator: ", ")
        let unknown = Question(
            place: root.name, entityName: root.name,
            sqlText: "SELECT \(key) FROM \(table(root)) WHERE \(column) NOT IN (\(known))",
            message: "it is of no entity that has objects")
        return [unknown]
            + kinds.dropFirst().compactMap { entity in
                let columns = layout.declaredColumns(of: entity)
                guard !columns.isEmpty else { return nil }
                let isHeld = columns.map { "\(SQL.quoted($0.name)) IS NOT NULL" }
                return Question(
                    place: entity.name, entityName: root.name,
                    sqlText: "SELECT \(key) FROM \(table(root)) "
                        + "WHERE NOT (\(isOfKind(entity, column))) "
                        + "AND (\(isHeld.joined(separator: " OR ")))",
                    message: "it has a value of this entity, and is none of its objects")
            }
    }

    private func isOfKind(_ entity: Entity, _ column: String) -> String {
        let names = layout.concreteNames(of: entity).map(literal)
        return "\(column) IN (\(names.joined(separator: ", ")))"
    }

    /// What holds of an object that is one of an entity's, by the alias of its row: nothing where
    /// the table has no others.
    private func kindCondition(_ entity: Entity, _ alias: String) -> String {
        guard layout.kinds(inTableOf: entity) != nil, entity.parent != nil else { return "" }
        return " AND " + isOfKind(entity, "\(alias).\(SQL.quoted(Layout.entityColumn))")
    }

    // MARK: Relationships

    private func toOne(
        _ relationship: Relationship, column: String, of entity: Entity
    ) -> [Question] {
        let place = "\(entity.name).\(relationship.name)"
        let reference = SQL.quoted(column)
        func question(_ condition: String, _ message: String) -> Question {
            Question(
                place: place, entityName: entity.name,
                sqlText: "SELECT \(key) FROM \(table(entity)) AS o WHERE \(condition)",
                message: message)
        }
        var questions: [Question] = []
        // The rule noAction leaves a key behind on purpose.
        if Layout.inverse(of: relationship, in: layout.schema)?.deleteRule != .noAction {
            questions.append(
                question(
                    "\(reference) IS NOT NULL AND NOT EXISTS "
                        + "(SELECT 1 FROM \(table(destination(relationship))) AS d "
                        + "WHERE d.\(key) = o.\(reference)"
                        + "\(kindCondition(destination(relationship), "d")))",
                    "it leads to an object that is not there"))
        }
        if !relationship.isOptional {
            questions.append(
                question(
                    "\(reference) IS NULL\(kindCondition(entity, "o"))",
                    "it leads nowhere, and must not"))
        }
        guard let position = layout.positionColumn(beside: relationship, column).map(SQL.quoted)
        else {
            return questions
        }
        questions.append(
            question(
                "(\(reference) IS NULL) <> (\(position) IS NULL)",
                "its place in an ordered list is missing, or stray"))
        questions.append(
            question(
                "EXISTS (SELECT 1 FROM \(table(entity)) AS s WHERE s.\(reference) = o.\(reference) "
                    + "AND s.\(position) = o.\(position) AND s.\(key) < o.\(key))",
                "its place in an ordered list is taken twice"))
        return questions
    }

    /// The pairs of a join table, each side asked when its own entity's turn comes.
    private func join(for relationship: Relationship, of entity: Entity) -> [Question] {
        guard
            case .join(let table, let ownColumn, let otherColumn, let position) =
                layout.link(for: relationship, of: entity)
        else { return [] }
        let place = "\(entity.name).\(relationship.name)"
        let pairs = SQL.quoted(table)
        let (own, other) = (SQL.quoted(ownColumn), SQL.quoted(otherColumn))
        func question(_ condition: String, _ message: String) -> Question {
            Question(
                place: place, entityName: entity.name,
                sqlText: "SELECT \(own) FROM \(pairs) AS p WHERE \(condition)", message: message)
        }
        var questions = [
            question(
                "NOT EXISTS (SELECT 1 FROM \(self.table(destination(relationship))) AS d "
                    + "WHERE d.\(key) = p.\(other)"
                    + "\(kindCondition(destination(relationship), "d")))",
                "it leads to an object that is not there"),
            question(
                "NOT EXISTS (SELECT 1 FROM \(self.table(entity)) AS o WHERE o.\(key) = p.\(own)"
                    + "\(kindCondition(entity, "o")))",
                "an object that is not there leads on"),
        ]
        if let position = position.map(SQL.quoted) {
            questions.append(
                question(
                    "EXISTS (SELECT 1 FROM \(pairs) AS s WHERE s.\(own) = p.\(own) "
                        + "AND s.\(position) = p.\(position) AND s.\(other) < p.\(other))",
                    "two objects have the same place in its order"))
        }
        if relationship.inverse == relationship.name, relationship.destination == entity.name {
            questions.append(
                question(
                    "NOT EXISTS (SELECT 1 FROM \(pairs) AS s "
                        + "WHERE s.\(own) = p.\(other) AND s.\(other) = p.\(own))",
                    "the other side does not lead back"))
        }
        return questions
    }

    // MARK: History

    private var history: [Question] {
        func question(_ sqlText: String, _ message: String) -> Question {
            Question(place: "history", entityName: nil, sqlText: sqlText, message: message)
        }
        let transactions = Layout.transactionTable
        // Not over all runs at once, for which SQLite would go through them for each value.
        func isNoDelete(_ number: String, _ table: String) -> String {
            "NOT EXISTS (SELECT 1 FROM \(table) AS c "
                + "WHERE c.\(number) = p.transaction_number AND c.kind = 3 "
                + "AND c.entity = p.entity AND p.key BETWEEN c.first_key AND c.last_key)"
        }
        return [
            question(
                "SELECT NULL FROM \(transactions) WHERE number < 1",
                "the number of a transaction is not positive"),
            question(
                "SELECT NULL FROM \(Layout.changeTable) WHERE place < 1 OR NOT EXISTS "
                    + "(SELECT 1 FROM \(transactions) WHERE number = transaction_number)",
                "a change belongs to no transaction"),
            question(
                "SELECT NULL FROM \(Layout.everyChange) "
                    + "WHERE kind NOT BETWEEN 1 AND 3 OR first_key < 1 OR last_key < first_key",
                "a change is of no known kind, or to no object"),
            question(
                "SELECT NULL FROM \(Layout.preservedTable) AS p WHERE "
                    + isNoDelete("number", transactions) + " AND "
                    + isNoDelete("transaction_number", Layout.changeTable),
                "a preserved value belongs to no object that was deleted"),
        ]
    }

    private var outcomes: [Question] {
        [
            Question(
                place: "outcomes", entityName: nil,
                sqlText: "SELECT NULL FROM \(Layout.outcomeTable) "
                    + "WHERE transaction_number > COALESCE((\(Layout.lastTransaction)), 0)",
                message: "it names a transaction that comes after the last one")
        ]
    }

    // MARK: Names

    private var key: String { SQL.quoted(Layout.keyColumn) }

    private func table(_ entity: Entity) -> String { SQL.quoted(layout.table(for: entity)) }

    private func destination(_ relationship: Relationship) -> Entity {
        guard let entity = layout.schema.entity(named: relationship.destination) else {
            preconditionFailure("a checked schema has no dangling destination")
        }
        return entity
    }

    /// A table's name as a value. Names of a schema hold no quotation marks.
    private func literal(_ name: String) -> String { "'\(name)'" }
}
