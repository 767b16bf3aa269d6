import LarderModel

/// Resolves the names and types of a query against a schema. All errors of a query's names and
/// types are reported here, for SQL and for the evaluator in memory.
///
/// A pure function of schema and query: it reads no objects, and of arguments only the types of
/// those that decide the type of a function (``ExpressionSource/decidingKinds``). One typer serves
/// one query.
///
/// - `QueryTyper+KeyPath.swift` resolves key paths,
/// - `QueryTyper+Predicate.swift` and `…+Comparison.swift` type predicates,
/// - `QueryTyper+Collection.swift` types to-many key paths and subqueries,
/// - `QueryTyper+Fetch.swift`, `…+Aggregate.swift` and `…+Selection.swift` type whole queries.
///
/// Its recursion is bounded: each tree has been checked against ``Limits``.
package final class QueryTyper {
    let conversion: QueryValueConversion
    package let entity: Entity
    /// Whether the queried objects may be of subentities.
    package let includesSubentities: Bool
    /// Reads the query's terms.
    package internal(set) var source: ExpressionSource
    /// The arguments and variables that the query uses, also where their values do not matter.
    package private(set) var givenValues: [TypedValue] = []

    /// The object of the query.
    let root: TypedObject
    /// The variables that enclosing SUBQUERYs declare.
    var variables: [String: TypedObject] = [:]
    /// The number of slots in use: one for the object of the query and one for each enclosing
    /// collection.
    var slotCount = 1
    /// The operand that replaces a collection in an expression that ANY or ALL computes for each
    /// element.
    var element: (collection: QueryExpression, operand: TypedOperand)?
    /// The names that a `having` predicate may use, while one is typed.
    var outputs: [String: TypedOperand]?

    /// An error that is being thrown: its original and its current form, and the expressions from
    /// which it came, innermost first.
    private var fault: (first: LarderError, last: LarderError, path: [QueryExpression], step: Int?)?
    /// The index of the step that is being resolved, while a key path is resolved.
    var currentStep: Int?

    var schema: Schema { conversion.schema }

    package init(
        entityName: String, conversion: QueryValueConversion, includesSubentities: Bool = true,
        source: ExpressionSource = ExpressionSource(QueryParameters())
    ) throws(LarderError) {
        self.source = source
        self.conversion = conversion
        entity = try conversion.schema.existingEntity(named: entityName)
        self.includesSubentities =
            includesSubentities && conversion.schema.hasSubentities(entityName)
        root = TypedObject(slot: 0, entity: entity)
    }

    /// Adds a value to ``givenValues``.
    func noted(_ value: TypedValue) -> TypedValue {
        givenValues.append(value)
        return value
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

    /// Types an expression. An error refers to the innermost expression that is in a text, in the
    /// text that was read last.
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
}
