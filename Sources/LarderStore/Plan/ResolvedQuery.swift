import LarderModel

/// A query whose names and types are known: the stage between the vocabulary and SQL.
struct ResolvedQuery: Hashable, Sendable {
    /// One column of the answer.
    struct OutputColumn: Hashable, Sendable {
        enum Content: Hashable, Sendable {
            case operand(PlanOperand)
            /// The destinations of a to-many, read by a statement of its own for each row.
            case list(PlanList)
        }

        var name: String
        var kind: Column.Kind
        var content: Content
        /// Where it is found of which entity an object is; nil where all are of one.
        var entityTable: String?

        var isList: Bool { if case .list = content { true } else { false } }
    }

    struct Order: Hashable, Sendable {
        enum Key: Hashable, Sendable {
            case operand(PlanOperand)
            /// The place of an output column, from 0.
            case output(Int)
        }

        var key: Key
        var isDescending = false
        var nilComesFirst = true
        var stringOrder = StringOrder.plain
    }

    enum Verb: String, Hashable, Sendable {
        case fetch = "Fetch"
        case count = "Count"
        case aggregate = "Aggregate"
    }

    var verb: Verb
    var entityName: String
    /// Which rows of the table are asked for, by the names of their entities; nil for all.
    var entityNames: [String]?
    var sources: [PlanSource]
    var predicate: PlanPredicate
    var groupBy: [PlanOperand] = []
    var having = PlanPredicate.yes
    /// Whether key and version of the object stand in front of the columns.
    var hasIdentity = false
    /// Whether they are given too, and not only read for the sake of lists.
    var givesIdentity = true
    /// Whether the name of its entity comes with them.
    var hasEntity = false
    var columns: [OutputColumn]
    var order: [Order] = []
    var isDistinct = false
    /// Whether all rows of one table are asked for, in the order of their keys, and no names of
    /// entities with them.
    var isScan = false
    /// Whether the predicate asks for a range of an indexed column.
    var hasIndexedRange = false
    var prefetch: [PlanPrefetch] = []

    /// Whether the entities of other objects are told with their keys.
    var namesOtherEntities: Bool {
        columns.contains { column in
            if case .list(let list) = column.content { return list.entityTable != nil }
            return column.entityTable != nil
        }
    }
}

/// The objects at the end of one relationship of a query's rows.
struct PlanPrefetch: Hashable, Sendable {
    /// From the rows that were asked for.
    var keyPath: String
    /// Which column of the rows holds the keys.
    var column: Int
    /// Reads the objects; and theirs.
    var query: ResolvedQuery
    /// Its statement, whose only parameter is the keys as a JSON array.
    var text: String
}

/// Where the keys of a to-many are, and their order.
struct PlanList: Hashable, Sendable {
    var table: String
    /// The column that holds the key of the object that has the list.
    var ownerColumn: String
    /// The column that holds the keys in the list.
    var keyColumn: String
    var positionColumn: String?
    /// The entity of the listed objects, or the one that all theirs are below.
    var entityName: String
    /// Where it is found of which entity an object is; nil where all are of one.
    var entityTable: String?

    init(_ link: Link, of entityName: String, entityTable: String?) {
        self.entityName = entityName
        self.entityTable = entityTable
        switch link {
        case .inverseColumn(let table, let column, let position):
            self.table = table
            ownerColumn = column
            keyColumn = Layout.keyColumn
            positionColumn = position
        case .join(let table, let own, let other, let position):
            self.table = table
            ownerColumn = own
            keyColumn = other
            positionColumn = position
        case .column: preconditionFailure("a to-many relationship has no column on its own side")
        }
    }

    /// The keys of many objects' lists: the place of each object in the JSON array of keys that is
    /// `?`, a key, and perhaps an entity. Object by object, each list as ``sqlText`` gives it.
    var sqlTextForMany: String {
        let key = "l.\(SQL.quoted(keyColumn))"
        let order = positionColumn.map { "l.\(SQL.quoted($0)), \(key)" } ?? key
        return
            "SELECT o.key, \(key)\(entityText(of: key)) FROM json_each(?) AS o "
            + "CROSS JOIN \(SQL.quoted(table)) AS l "
            + "ON l.\(SQL.quoted(ownerColumn)) = o.value ORDER BY o.key, \(order)"
    }

    private func entityText(of key: String) -> String {
        entityTable.map { ", " + SQLWriter.entity(of: key, in: $0) } ?? ""
    }

    /// The keys of one object's list, perhaps each with the name of its entity, in its order or
    /// else in their own; `?` is the object's key.
    var sqlText: String {
        let key = SQL.quoted(keyColumn)
        let order = positionColumn.map { "\(SQL.quoted($0)), \(key)" } ?? key
        let entity = entityText(of: "\(SQL.quoted(table)).\(key)")
        return
            "SELECT \(key)\(entity) FROM \(SQL.quoted(table)) WHERE \(SQL.quoted(ownerColumn)) = ? "
            + "ORDER BY \(order)"
    }
}
