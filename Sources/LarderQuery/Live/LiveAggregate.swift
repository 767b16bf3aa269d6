import FoundationEssentials
import LarderModel

/// An observed count or aggregate that is computed from the contributions of single objects, so
/// that a change does not read the other objects again.
///
/// `init(_:_:_:in:store:)` decides which queries are. All others are read again as a whole.
package struct LiveAggregate: Sendable {
    struct Column: Sendable {
        let function: AggregateFunction
        let form: GroupTotal.Form
        /// The index of its value among those of an object; nil for a count of objects.
        let valueIndex: Int?

        func value(_ values: [Value]) -> Value { valueIndex.map { values[$0] } ?? .bool(true) }
    }

    /// Selects the contributions as columns: the group keys, then the aggregated values. A value
    /// that a filter excludes is nil.
    let fetch: Fetch
    let keyCount: Int
    let columns: [Column]
    /// The names of all columns of the result.
    let names: [String]
    /// The order of the rows.
    private(set) var order: [(column: Int, direction: SortDirection)] = []
    private var having: EvaluatedPredicate?

    /// The aggregated values of an object.
    var valueCount: Int { columns.count { $0.valueIndex != nil } }

    /// The columns that store the values of all objects.
    var extremeCount: Int {
        columns.count { [.smallest, .largest, .distinctValues].contains($0.form) }
    }

    /// - Parameter query: All terms are trees, or names of result columns.
    /// - Returns: nil for a query that has to be read again:
    ///   - one that reads the time,
    ///   - one that reads related objects whose deletion, under the delete rule `noAction`, leaves
    ///     the objects that refer to them as they are,
    ///   - one with `median`, `mode` or `stddev`, or that aggregates members of JSON documents,
    ///   - one whose group keys or distinct values are URLs, members of JSON documents, or computed
    ///     values other than integers, strings and truth values: the store compares more than the
    ///     values,
    ///   - one with a sort key that is not a result column,
    ///   - one whose HAVING uses MATCHES, or a column that is an object or has a key path as name.
    init?(
        _ query: Query, _ parameters: QueryParameters, _ dependencies: QueryDependencies,
        in schema: Schema, store: UUID
    ) {
        let aggregate: Aggregate
        switch query {
        case .fetch: return nil
        case .count(let name, let predicate, let includesSubentities):
            aggregate = Aggregate(
                name, where: predicate, [.count], includesSubentities: includesSubentities)
        case .aggregate(let given): aggregate = given
        }
        guard !dependencies.dependsOnTime, (parameters.limit ?? 0) >= 0,
            dependencies.paths.dropFirst().allSatisfy({ !schema.leavesOwners($0.entityName) }),
            let reader = ContributionReader(aggregate, parameters, in: schema, store: store)
        else { return nil }
        fetch = Fetch(
            aggregate.entityName, where: aggregate.predicate,
            selection: reader.terms.isEmpty
                ? .identifiers
                : .columns(
                    reader.terms.enumerated().map { QueryColumn(.tree($1), name: "\($0)") }),
            includesSubentities: aggregate.includesSubentities)
        keyCount = aggregate.groupBy.count
        columns = reader.columns
        names = aggregate.groupBy.map(\.name) + aggregate.columns.map(\.name)
        guard let order = order(aggregate.sort) else { return nil }
        self.order = order
        guard let term = aggregate.having else { return }
        guard case .tree(let expression) = term,
            let having = predicate(expression, reader.types, parameters, store)
        else { return nil }
        self.having = having
    }

    /// The sort keys, which must be names of columns, then the group keys.
    private func order(_ keys: [SortKey]) -> [(column: Int, direction: SortDirection)]? {
        var order: [(column: Int, direction: SortDirection)] = []
        for key in keys {
            let name: String
            switch key.term {
            case .format(let text): name = text
            case .tree(.keyPath(.object, let steps)): name = steps.joined(separator: ".")
            case .tree: return nil
            }
            guard let column = names.firstIndex(of: name) else { return nil }
            order.append((column, SortDirection(key)))
        }
        for column in 0..<keyCount {
            order.append((column, SortDirection(SortKey(names[column]))))
        }
        return order
    }

    // MARK: - HAVING

    private static let groupEntity = "Group"

    /// HAVING as a predicate over objects whose attributes are the columns of the result.
    private func predicate(
        _ expression: QueryExpression, _ types: [OperandType], _ parameters: QueryParameters,
        _ store: UUID
    ) -> EvaluatedPredicate? {
        var attributes: [Attribute] = []
        for (name, type) in zip(names, types) where SchemaName.isWellFormed(name) {
            guard case .attribute(let type) = type else { continue }
            attributes.append(Attribute(name: name, type: type, isOptional: true))
        }
        guard
            let schema = try? Schema(entities: [
                Entity(name: Self.groupEntity, attributes: attributes)
            ]),
            let evaluator = try? Evaluator(
                schema: schema, entityName: Self.groupEntity, parameters: parameters,
                store: store, now: Date(timeIntervalSinceReferenceDate: 0)),
            let predicate = try? evaluator.predicate(expression), !expression.usesMatches
        else { return nil }
        return predicate
    }

    /// Whether HAVING selects a row.
    func selects(_ row: [Value]) throws(LarderError) -> Bool {
        guard let having else { return true }
        let group = PersistentIdentifier(temporary: "g", entityName: Self.groupEntity)
        let names = names
        return try having.holds(for: group) { _, name in
            names.firstIndex(of: name).map { row[$0] }
        }
    }
}

/// Types the terms of an aggregate, and decides whether they can be computed from single objects.
private struct ContributionReader {
    private let evaluator: Evaluator
    /// The columns of the contributions.
    private(set) var terms: [QueryExpression] = []
    /// The types of the columns of the result.
    private(set) var types: [OperandType] = []
    private(set) var columns: [LiveAggregate.Column] = []

    init?(
        _ aggregate: Aggregate, _ parameters: QueryParameters, in schema: Schema, store: UUID
    ) {
        guard
            let evaluator = try? Evaluator(
                schema: schema, entityName: aggregate.entityName, parameters: parameters,
                store: store, now: Date(timeIntervalSinceReferenceDate: 0))
        else { return nil }
        self.evaluator = evaluator
        for key in aggregate.groupBy {
            guard let (expression, operand) = operand(key.term), operand.isEqualByValue,
                let type = operand.type
            else { return nil }
            terms.append(expression)
            types.append(type)
        }
        for column in aggregate.columns {
            guard add(column, keyCount: aggregate.groupBy.count) else { return nil }
        }
    }

    private func operand(_ term: QueryTerm) -> (QueryExpression, TypedOperand)? {
        guard case .tree(let expression) = term, (try? expression.checkLimits()) != nil else {
            return nil
        }
        guard let operand = try? evaluator.makeTyper().operand(expression), operand.isComputedAlike
        else { return nil }
        return (expression, operand)
    }

    private mutating func add(_ column: Aggregate.Column, keyCount: Int) -> Bool {
        var expression = QueryExpression.constant(.int(1))
        var form: GroupTotal.Form? = .count
        var type = OperandType.attribute(.int64)
        if let term = column.term {
            guard let (counted, operand) = operand(term), let counts = operand.type,
                let result = try? column.function.resultType(of: counts, named: operand.name)
            else { return false }
            (expression, form, type) = (counted, Self.form(column.function, operand), result)
        } else if column.function != .count {
            return false
        }
        guard let form else { return false }
        types.append(type)
        guard column.term != nil || column.filter != nil else {
            columns.append(.init(function: column.function, form: form, valueIndex: nil))
            return true
        }
        if let filter = column.filter {
            guard case .tree(let test) = filter else { return false }
            expression = .function(.conditional, [test, expression, .constant(.null)])
        }
        columns.append(
            .init(function: column.function, form: form, valueIndex: terms.count - keyCount))
        terms.append(expression)
        return true
    }

    private static func form(
        _ function: AggregateFunction, _ operand: TypedOperand
    ) -> GroupTotal.Form? {
        guard let type = operand.type else { return nil }
        switch function {
        case .count: return .count
        case .countDistinct: return operand.isEqualByValue ? .distinctValues : nil
        case .sum, .average:
            if type.isInteger { return .integers }
            return type == .attribute(.decimal) ? .decimals : .reals
        case .minimum: return .smallest
        case .maximum: return .largest
        case .median, .mode, .stddev: return nil
        }
    }
}

extension TypedOperand {
    /// Whether the store computes it for one object as it does for the aggregate. A member of a
    /// JSON document is read as the type that the function needs; equal JSON values have several
    /// texts; a URL that Foundation rejects is read as nil.
    fileprivate var isComputedAlike: Bool {
        switch self {
        case .member, .value: false
        default: type != nil && type != .attribute(.url) && type != .attribute(.json)
        }
    }

    /// Whether values are equal exactly if their stored forms are. A computed number may be stored
    /// as an integer for one object and as a double for another.
    fileprivate var isEqualByValue: Bool {
        if case .property = self { return true }
        if case .object = type { return true }
        return type?.isInteger == true || type?.isString == true || type == .attribute(.bool)
    }
}

extension QueryExpression {
    /// Whether it has the operator MATCHES, which the evaluator does not know.
    fileprivate var usesMatches: Bool {
        if case .comparison(let comparison) = self, comparison.operator == .matches {
            return true
        }
        return children.contains(where: \.usesMatches)
    }
}

extension Schema {
    /// Whether the deletion of an object of the entity may leave the objects that refer to it as
    /// they are.
    fileprivate func leavesOwners(_ name: String) -> Bool {
        guard let entity = entity(named: name) else { return true }
        return ([entity] + subentities(of: name)).contains { entity in
            entity.relationships.contains { $0.deleteRule == .noAction }
        }
    }
}
