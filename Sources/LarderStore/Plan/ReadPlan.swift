import LarderModel
import Synchronization

/// A resolved query, and the SQL that has been written for it so far.
///
/// It may be used from any thread: everything except the list of templates is immutable.
final class ReadPlan: QueryPlan {
    let query: ResolvedQuery
    let converter: ValueConverter
    let dependsOnArguments: Bool
    /// The number of arguments of the format strings; nil if trees may refer to any number.
    private let argumentCount: Int?
    private let givenValues: [PlanValue]
    private let templates = Mutex<[SQLTemplate]>([])
    private let sortsGroups = Atomic(false)

    /// Few queries have more than one or two templates: see ``ParameterQuestion``.
    private static let templatesMax = 16
    /// Parameters of one statement, as Debian builds SQLite.
    private static let valuesMax = 250_000

    init(
        _ query: ResolvedQuery, converter: ValueConverter, dependsOnArguments: Bool,
        argumentCount: Int?, givenValues: [PlanValue]
    ) {
        self.query = query
        self.converter = converter
        self.dependsOnArguments = dependsOnArguments
        self.argumentCount = argumentCount
        self.givenValues = givenValues
    }

    /// The statements for these parameters, to be run one after the other.
    ///
    /// - Parameter conversions: Those of the connection that will run the statements. If their
    ///   limit has a reason to stop afterwards, the error is meaningless.
    func statements(
        _ parameters: QueryParameters, _ conversions: Conversions
    ) throws(LarderError) -> [SQL] {
        try check(parameters)
        conversions.removeAll()
        defer { conversions.removeAll() }
        var converter = converter
        converter.conversions = conversions
        let statements = try statements(parameters, converter)
        try conversions.check()
        // The statements do not use all values: `$n < nil` is false whatever $n is.
        for value in givenValues { try converter.checkGiven(value, parameters) }
        return statements
    }

    private func statements(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> [SQL] {
        let cached = templates.withLock { $0 }
        for template in cached where try template.serves(parameters, converter) {
            return try template.filled(parameters, converter)
        }
        let template = try write(parameters, converter)
        try converter.conversions?.check()
        templates.withLock { templates in
            if templates.count >= Self.templatesMax { templates.removeFirst() }
            templates.append(template)
        }
        return try template.filled(parameters, converter)
    }

    /// Groups by sorting from now on, because there were too many groups for memory.
    func sortGroups() {
        sortsGroups.store(true, ordering: .relaxed)
        templates.withLock { $0.removeAll() }
    }

    private func write(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> SQLTemplate {
        let sortsGroups = sortsGroups.load(ordering: .relaxed)
        var writer = SQLWriter(parameters, converter, sortsGroups: sortsGroups)
        let statements = try writer.statements(query)
        let valueCount = statements.flatMap(\.parameters).reduce(0) { $0 + $1.valueCount }
        guard valueCount <= Self.valuesMax else {
            throw LarderError(
                .resourceExhausted, "the lists of the query have too many elements in total",
                hint: "split it into several queries")
        }
        return SQLTemplate(statements: statements, conditions: writer.conditions)
    }

    private func check(_ parameters: QueryParameters) throws(LarderError) {
        try parameters.checkLimits()
        let given = parameters.arguments.count
        if let argumentCount, given != argumentCount {
            throw LarderError(
                .malformedPredicate,
                "the query takes \(argumentCount) argument\(argumentCount == 1 ? "" : "s"), "
                    + "but \(given) \(given == 1 ? "was" : "were") passed",
                hint: "pass one for each %@ and %K")
        }
        guard (parameters.limit ?? 0) >= 0, (parameters.offset ?? 0) >= 0 else {
            throw LarderError(.malformedValue, "limit and offset must not be negative")
        }
        guard query.verb != .count || (parameters.limit == nil && parameters.offset == nil) else {
            throw LarderError(.unsupported, "a count takes no limit or offset")
        }
        try checkCursor(parameters)
    }

    private func checkCursor(_ parameters: QueryParameters) throws(LarderError) {
        let after = parameters.after
        guard let identifier = after.last else { return }
        guard query.verb == .fetch, !query.isDistinct else {
            throw LarderError(
                .unsupported, "only a fetch of objects can continue after a cursor",
                hint: "use an offset for other rows")
        }
        guard parameters.offset == nil else {
            throw LarderError(.unsupported, "a cursor and an offset cannot be combined")
        }
        guard after.count == query.order.count else {
            throw LarderError(
                .malformedValue,
                "the cursor has \(after.count) value\(after.count == 1 ? "" : "s"), "
                    + "but \(query.order.count) \(query.order.count == 1 ? "is" : "are") needed",
                hint: "give a value for each sort key and then the object's identifier")
        }
        guard !identifier.isNull else {
            throw LarderError(
                .malformedValue, "the last value of the cursor must be an identifier, not nil")
        }
    }
}
