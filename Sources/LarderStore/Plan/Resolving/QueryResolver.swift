import FoundationEssentials
import LarderModel

/// Resolves the names and types of a query: the stage between the vocabulary and SQL.
///
/// A pure function of schema and query. Its state is the numbering of aliases and the joins so far.
/// One resolver serves one query.
///
/// - `QueryResolver+KeyPath.swift` resolves key paths and adds joins,
/// - `QueryResolver+Predicate.swift` and `…+Comparison.swift` resolve predicates,
/// - `QueryResolver+Collection.swift` resolves to-many key paths,
/// - `QueryResolver+Fetch.swift` and `…+Aggregate.swift` resolve whole queries.
final class QueryResolver {
    let layout: Layout
    let converter: ValueConverter
    let entity: Entity
    /// Whether the rows may belong to subentities.
    let includesSubentities: Bool
    /// The FROM clause of the query itself, and its object.
    let rootScope: ResolverScope
    let root: ResolverRow
    /// Reads the query's terms.
    var source: ExpressionSource
    /// The arguments and variables that the query uses, also where their values do not matter.
    private(set) var givenValues: [PlanValue] = []
    private var aliasCount = 0
    /// The operand that replaces a collection in an expression that ANY or ALL computes for each
    /// element.
    var element: (collection: QueryExpression, operand: PlanOperand)?
    /// The names that a `having` predicate may use, while one is resolved.
    var outputs: [String: PlanOperand]?

    /// An error that is being thrown: its original and its current form, and the expressions from
    /// which it came, innermost first.
    private var fault: (first: LarderError, last: LarderError, path: [QueryExpression], step: Int?)?
    /// The index of the step that is being resolved, while a key path is resolved.
    var currentStep: Int?

    /// SQLite's limit.
    private static let joinedTablesMax = 64

    /// Adds a value to ``givenValues``.
    func noted(_ value: PlanValue) -> PlanValue {
        givenValues.append(value)
        return value
    }

    init(
        entityName: String, layout: Layout, converter: ValueConverter,
        includesSubentities: Bool = true,
        source: ExpressionSource = ExpressionSource(QueryParameters())
    ) throws(LarderError) {
        self.source = source
        self.layout = layout
        self.converter = converter
        entity = try Self.entity(named: entityName, in: layout.schema)
        self.includesSubentities =
            includesSubentities && layout.schema.hasSubentities(entityName)
        rootScope = ResolverScope(outer: nil)
        root = ResolverRow(
            entity: entity, scope: rootScope,
            key: ColumnReference(alias: 0, column: Layout.keyColumn), isOptional: false, alias: 0)
        aliasCount = 1
        rootScope.add(
            PlanSource(alias: 0, table: layout.table(for: entity), join: .first, condition: nil))
    }

    /// Reads an expression that has a value.
    ///
    /// A text in the form of a key path is one, even if its names have a meaning in a format.
    func value(_ term: QueryTerm, named name: String) throws(LarderError) -> QueryExpression {
        if case .format(let text) = term, outputs == nil {
            let steps = text.split(separator: ".", omittingEmptySubsequences: false)
            if entity.property(named: String(steps[0])) != nil, steps.allSatisfy(Self.isName) {
                return source.keyPath(text, named: name)
            }
        }
        return try source.value(term, named: name)
    }

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }

    /// Resolves an expression. An error refers to the innermost expression that is in a text, in
    /// the text that was read last.
    func locating<Result>(
        _ expression: QueryExpression, _ resolve: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        do throws(LarderError) { return try resolve() } catch {
            let known = fault.flatMap { $0.last == error ? $0 : nil }
            var fault = known ?? (first: error, last: error, path: [], step: currentStep)
            currentStep = nil
            if fault.path.last != expression { fault.path.append(expression) }
            // The resolved term was read last.
            fault.last = source.sourceMaps.reversed().reduce(fault.first) {
                $1.locating($0, at: fault.path, step: fault.step)
            }
            self.fault = fault
            throw fault.last
        }
    }

    /// The entities of the requested rows; nil for all rows of the table.
    var entityNames: [String]? {
        guard layout.kinds(inTableOf: entity) != nil else { return nil }
        if includesSubentities, entity.parent == nil { return nil }
        return layout.concreteNames(of: entity, includingSubentities: includesSubentities)
    }

    /// Adds a table to a clause, and returns the number of its alias.
    func join(
        _ table: String, _ join: PlanSource.Join, on condition: PlanSource.Condition,
        in scope: ResolverScope
    ) throws(LarderError) -> Int {
        guard scope.sources.count < Self.joinedTablesMax else {
            throw LarderError(
                .resourceExhausted,
                "the query follows more than \(Self.joinedTablesMax) different relationships")
        }
        let alias = aliasCount
        aliasCount += 1
        scope.add(PlanSource(alias: alias, table: table, join: join, condition: condition))
        return alias
    }

    static func entity(named name: String, in schema: Schema) throws(LarderError) -> Entity {
        guard let entity = schema.entity(named: name) else {
            throw LarderError(
                .unknownEntity, "there is no entity \"\(printable(name))\"",
                hint: NameSuggestion.hint(for: name, among: schema.entities.map(\.name)))
        }
        return entity
    }

    static func property(named name: String, of entity: Entity) throws(LarderError) -> Property {
        guard let property = entity.property(named: name) else {
            let known = entity.attributes.map(\.name) + entity.relationships.map(\.name)
            throw LarderError(
                .unknownProperty, "\(entity.name) has no property \"\(printable(name))\"",
                hint: NameSuggestion.hint(for: name, among: known))
        }
        return property
    }

    /// A name from a client for an error message: of limited length.
    static func printable(_ name: String) -> String {
        name.utf8.count <= Limits.nameBytesMax ? name : "\(name.prefix(32))…"
    }
}
