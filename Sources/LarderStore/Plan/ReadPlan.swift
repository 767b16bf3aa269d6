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
    private let sortsGroups = Atomic(false)

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

    /// The statements for these parameters, complete, to be run one after the other.
    func statements(_ parameters: QueryParameters) throws(LarderError) -> [SQL] {
        try check(parameters)
        let known = templates.withLock { $0 }
        for template in known where try template.serves(parameters, converter) {
            return try template.filled(parameters, converter)
        }
        let template = try write(parameters)
        templates.withLock { templates in
            if templates.count >= Self.templatesMax { templates.removeFirst() }
            templates.append(template)
        }
        return try template.filled(parameters, converter)
    }

    /// From now on groups are found by sorting: there were too many to keep.
    func sortGroups() {
        sortsGroups.store(true, ordering: .relaxed)
        templates.withLock { $0.removeAll() }
    }

    private func write(_ parameters: QueryParameters) throws(LarderError) -> SQLTemplate {
        let sortsGroups = sortsGroups.load(ordering: .relaxed)
        var writer = SQLWriter(parameters, converter, sortsGroups: sortsGroups)
        let statements = try writer.statements(query)
        let bindingCount = statements.flatMap(\.parameters).reduce(0) { $0 + $1.bindingCount }
        guard bindingCount <= Self.bindingsMax else {
            throw LarderError(
                .resourceExhausted, "the query's lists have too many elements in all",
                hint: "ask several queries")
        }
        return SQLTemplate(
            statements: statements.map {
                .init(text: $0.text, parameters: $0.parameters, isScan: $0.isScan)
            },
            conditions: writer.conditions)
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
        try check(place: parameters)
    }

    private func check(place parameters: QueryParameters) throws(LarderError) {
        let after = parameters.after
        guard let identifier = after.last else { return }
        guard query.verb == .fetch, !query.isDistinct else {
            throw LarderError(
                .unsupported, "only a fetch of objects goes on after a place",
                hint: "rows that are no objects are skipped by offset")
        }
        guard parameters.offset == nil else {
            throw LarderError(
                .unsupported, "a place to go on after and an offset exclude each other")
        }
        guard after.count == query.order.count else {
            throw LarderError(
                .malformedValue,
                "the place to go on after has \(after.count) value\(after.count == 1 ? "" : "s"), "
                    + "and \(query.order.count) \(query.order.count == 1 ? "is" : "are") needed",
                hint: "give one for each sort key, and last the object's identifier")
        }
        guard !identifier.isNull else {
            throw LarderError(
                .malformedValue, "the place to go on after ends with an identifier, not with nil")
        }
    }
}
