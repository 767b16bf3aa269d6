import LarderModel
import Synchronization

/// A query resolved against a store's schema, and the SQL that was written for it so far.
///
/// It may be used from any thread: all but the list of texts is immutable.
final class ReadPlan: QueryPlan {
    let query: ResolvedQuery
    let converter: ValueConverter
    let dependsOnArguments: Bool
    /// How many arguments the format strings take; nil where trees may refer to any number.
    private let argumentCount: Int?
    private let templates = Mutex<[SQLTemplate]>([])

    /// Texts kept of one plan. Few queries have more than one or two: see ``ParameterQuestion``.
    private static let templatesMax = 16
    /// Values that SQLite takes in one statement, as Debian builds it.
    private static let bindingsMax = 250_000

    init(
        _ query: ResolvedQuery, converter: ValueConverter, dependsOnArguments: Bool,
        argumentCount: Int?
    ) {
        self.query = query
        self.converter = converter
        self.dependsOnArguments = dependsOnArguments
        self.argumentCount = argumentCount
    }

    /// The statement for these parameters, complete.
    func statement(_ parameters: QueryParameters) throws(LarderError) -> SQL {
        try check(parameters)
        let known = templates.withLock { $0 }
        for template in known where try template.serves(parameters, converter) {
            return SQL(template.text, try template.bindings(parameters, converter))
        }
        let template = try write(parameters)
        templates.withLock { templates in
            if templates.count >= Self.templatesMax { templates.removeFirst() }
            templates.append(template)
        }
        return SQL(template.text, try template.bindings(parameters, converter))
    }

    private func write(_ parameters: QueryParameters) throws(LarderError) -> SQLTemplate {
        var writer = SQLWriter(parameters, converter)
        let statement = try writer.statement(query)
        let bindingCount = statement.parameters.reduce(0) { $0 + $1.bindingCount }
        guard bindingCount <= Self.bindingsMax else {
            throw LarderError(
                .resourceExhausted, "the query's lists have too many elements in all",
                hint: "ask several queries")
        }
        return SQLTemplate(
            text: statement.text, parameters: statement.parameters, conditions: writer.conditions)
    }

    private func check(_ parameters: QueryParameters) throws(LarderError) {
        try parameters.checkLimits()
        let given = parameters.arguments.count
        if let argumentCount, given != argumentCount {
            throw LarderError(
                .malformedPredicate,
                "the query takes \(argumentCount) argument\(argumentCount == 1 ? "" : "s"), "
                    + "and \(given) \(given == 1 ? "was" : "were") given",
                hint: "give one for each %@ and %K")
        }
        guard (parameters.limit ?? 0) >= 0, (parameters.offset ?? 0) >= 0 else {
            throw LarderError(.malformedValue, "limit and offset are numbers from 0")
        }
        guard query.verb != .count || (parameters.limit == nil && parameters.offset == nil) else {
            throw LarderError(.unsupported, "a count has neither limit nor offset")
        }
    }
}
