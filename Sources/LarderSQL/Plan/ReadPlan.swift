import LarderModel
import LarderQuery
import Synchronization

/// A resolved query, and the SQL that has been written for it so far.
///
/// It may be used from any thread: everything except the list of templates is immutable.
package final class ReadPlan: QueryPlan {
    package let query: ResolvedQuery
    package let converter: ValueConverter
    package let dependsOnArguments: Bool
    private let decidingKinds: [TypedValue.Source: OperandKind]
    /// The number of arguments of the format strings; nil if trees may refer to any number.
    private let argumentCount: Int?
    private let givenValues: [TypedValue]
    private let templates = Mutex<[SQLTemplate]>([])
    private let templateBytes = Atomic(0)
    /// Without the templates.
    private let fixedBytes: Int
    private let sortsGroups = Atomic(false)

    /// Few queries have more than one or two templates: see ``ParameterQuestion``.
    private static let templatesMax = 16
    /// The templates of a plan together. The least recent ones are removed.
    private static let templateBytesMax = 1 << 20

    package init(
        _ query: ResolvedQuery, converter: ValueConverter, source: ExpressionSource,
        givenValues: [TypedValue]
    ) {
        self.query = query
        fixedBytes =
            PlanBytes.plan + source.nodeCount * PlanBytes.node
            + query.columns.count * PlanBytes.column
        self.converter = converter
        dependsOnArguments = source.dependsOnArguments
        decidingKinds = source.decidingKinds
        argumentCount = source.hasTree ? nil : source.argumentCount
        self.givenValues = givenValues
    }

    package func serves(_ parameters: QueryParameters) -> Bool {
        decidingKinds.allSatisfy { parameters.kind(of: $0.key) == $0.value }
    }

    package var byteCount: Int { fixedBytes + templateBytes.load(ordering: .relaxed) }

    /// The statements for these parameters, to be run one after the other.
    ///
    /// - Parameter conversions: Those of the connection that will run the statements. If their
    ///   limit has a reason to stop afterwards, the error is meaningless.
    package func statements(
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
        for value in givenValues { try converter.conversion.checkGiven(value, parameters) }
        return statements
    }

    /// The statements with which several connections read the query for these parameters, which
    /// have been checked; none if it cannot be divided.
    package func divided(
        _ parameters: QueryParameters, _ conversions: Conversions
    ) throws(LarderError) -> (statements: [SQL], division: SQLTemplate.Division) {
        conversions.removeAll()
        defer { conversions.removeAll() }
        var converter = converter
        converter.conversions = conversions
        let template = try template(parameters, converter, isDivided: true)
        let statements = try template.filled(parameters, converter)
        try conversions.check()
        return (statements, template.division ?? .none)
    }

    private func statements(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> [SQL] {
        try template(parameters, converter, isDivided: false).filled(parameters, converter)
    }

    private func template(
        _ parameters: QueryParameters, _ converter: ValueConverter, isDivided: Bool
    ) throws(LarderError) -> SQLTemplate {
        let cached = templates.withLock { $0 }
        for template in cached where (template.division != nil) == isDivided {
            if try template.serves(parameters, converter) { return template }
        }
        let template = try write(parameters, converter, isDivided: isDivided)
        try converter.conversions?.check()
        add(template)
        return template
    }

    /// Keeps a template for the next parameters of its kind, unless it alone is too long.
    private func add(_ template: SQLTemplate) {
        guard template.byteCount <= Self.templateBytesMax else { return }
        templates.withLock { templates in
            templates.append(template)
            var byteCount = templates.reduce(0) { $0 + $1.byteCount }
            while byteCount > Self.templateBytesMax || templates.count > Self.templatesMax {
                byteCount -= templates.removeFirst().byteCount
            }
            templateBytes.store(byteCount, ordering: .relaxed)
        }
    }

    /// Groups by sorting from now on, because there were too many groups for memory.
    package func sortGroups() {
        sortsGroups.store(true, ordering: .relaxed)
        templates.withLock { templates in
            templates.removeAll()
            templateBytes.store(0, ordering: .relaxed)
        }
    }

    private func write(
        _ parameters: QueryParameters, _ converter: ValueConverter, isDivided: Bool
    ) throws(LarderError) -> SQLTemplate {
        let sortsGroups = sortsGroups.load(ordering: .relaxed)
        var writer = SQLWriter(parameters, converter, sortsGroups: sortsGroups)
        var division: SQLTemplate.Division?
        let statements: [SQL]
        if isDivided {
            (statements, division) = try writer.divided(query)
        } else {
            statements = try writer.statements(query)
        }
        let valueCount = statements.flatMap(\.parameters).reduce(0) { $0 + $1.valueCount }
        guard valueCount <= converter.dialect.parametersMax else {
            throw LarderError(
                .resourceExhausted, "the lists of the query have too many elements in total",
                hint: "split it into several queries")
        }
        return SQLTemplate(
            statements: statements.map(converter.dialect.finished),
            conditions: writer.conditions, division: division)
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

/// Roughly the memory of the parts of a plan: estimates from the sizes of their types.
private enum PlanBytes {
    static let plan = 4 << 10
    /// A node of an expression, resolved, with its position in the text.
    static let node = 1 << 10
    static let column = 512
}
