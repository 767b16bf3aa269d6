import LarderModel
import LarderQuery

/// Lowers a typed query to the tables of a store: key paths become columns and joins, collections
/// get a FROM clause of their own.
///
/// A pure function of layout and query. Its state is the numbering of aliases and the joins so far.
/// One instance serves one query.
///
/// - `QueryLowering+KeyPath.swift` lowers key paths and adds joins,
/// - `QueryLowering+Predicate.swift` lowers predicates, operands and collections,
/// - `QueryLowering+Query.swift` lowers whole queries,
/// - `RowRules.swift` limits each table to the objects that the user may see.
package final class QueryLowering {
    package let layout: Layout
    package let converter: ValueConverter
    /// nil if the user may see all objects.
    package let rules: RowRules?
    /// A rule reads all objects.
    var isLoweringRule = false
    package let entity: Entity
    /// The FROM clause of the query itself, and its object.
    let rootClause: FromClause
    package let root: JoinedRow
    /// The objects to which expressions refer, by their slots.
    package var rows: [Int: JoinedRow]
    /// The elements of collections that are values of attributes, by their slots.
    package var elements: [Int: PlanOperand] = [:]
    /// The lowered columns of an aggregate. They are the same wherever they are used, so that a
    /// collection in one has a single clause.
    package var outputs: [TypedOperand: PlanOperand] = [:]
    private var aliasCount = 1

    /// SQLite's limit.
    private static let joinedTablesMax = 64

    package init(
        _ entity: Entity, _ layout: Layout, _ converter: ValueConverter, _ rules: RowRules? = nil
    ) {
        self.layout = layout
        self.rules = rules
        self.converter = converter
        self.entity = entity
        rootClause = FromClause()
        root = JoinedRow(
            entity: entity, clause: rootClause,
            key: ColumnReference(alias: 0, column: Layout.keyColumn), isOptional: false, alias: 0)
        rows = [0: root]
        rootClause.add(
            PlanSource(alias: 0, table: layout.table(for: entity), join: .first, condition: nil))
    }

    /// Adds a table to a clause, and returns the number of its alias.
    ///
    /// - Parameter seen: The entity of the objects at the end of a to-one step. Those that the user
    ///   may not see are not joined. nil if this has been decided.
    package func join(
        _ table: String, _ join: PlanSource.Join, on condition: PlanSource.Condition,
        seen: Entity? = nil, in clause: FromClause
    ) throws(LarderError) -> Int {
        guard clause.sources.count < Self.joinedTablesMax else {
            throw LarderError(
                .resourceExhausted,
                "the query follows more than \(Self.joinedTablesMax) different relationships")
        }
        let alias = nextAlias()
        var source = PlanSource(alias: alias, table: table, join: join, condition: condition)
        if let seen { source.restriction = try visibility(of: seen, alias: alias) }
        clause.add(source)
        return alias
    }

    func nextAlias() -> Int {
        defer { aliasCount += 1 }
        return aliasCount
    }

    /// Lowers a key path. An error refers to it.
    package func locating<Result>(
        _ path: TypedKeyPath, _ lower: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        do throws(LarderError) { return try lower() } catch {
            throw converter.conversion.sourceMaps.reversed().reduce(error) {
                $1.locating($0, at: path.expression)
            }
        }
    }

    /// The object in a slot.
    package func row(_ object: TypedObject) -> JoinedRow {
        guard let row = rows[object.slot] else {
            preconditionFailure("the collection around an expression is lowered first")
        }
        return row
    }
}
