public import Foundation
internal import LarderClient
internal import LarderModel
public import SwiftData

extension ModelContext {
    /// Groups the models of the store that match and computes values for each group, in the store.
    /// Pending changes do not count.
    ///
    /// - Parameters:
    ///   - having: A predicate in Core Data's format over the names of columns (``named(_:)``),
    ///     which removes groups.
    ///   - sort: Names of columns, each with `:desc` for the descending order.
    /// - Returns: the values of each group, in the order of the columns.
    /// - Throws: `LarderError`.
    public func aggregate<Model: PersistentModel, each Output>(
        _ type: Model.Type, _ columns: repeat AggregateColumn<Model, each Output>,
        where predicate: Predicate<Model>? = nil, having: String? = nil, sort: [String] = [],
        limit: Int? = nil
    ) throws -> [(repeat each Output)] {
        var aggregate = ModelAggregate<Model>(having: having, sort: sort, limit: limit)
        try aggregate.select(predicate)
        repeat try aggregate.append(each columns)
        let rows = try aggregate.rows(self)
        return try rows.map { row in
            var row = row
            return (repeat try row.next(each columns))
        }
    }
}

/// An aggregate over models, translated for the store.
private struct ModelAggregate<Model: PersistentModel> {
    private var aggregate: Aggregate
    private var parameters: QueryParameters
    /// For each column whether models are grouped by it.
    private var isGroup: [Bool] = []

    init(having: String?, sort: [String], limit: Int?) {
        aggregate = Aggregate(
            Model.entityName, [], having: having.map { .format($0) },
            sort: sort.map { text in
                let isDescending = text.hasSuffix(":desc")
                return SortKey(
                    isDescending ? String(text.dropLast(5)) : text, descending: isDescending)
            })
        parameters = QueryParameters(limit: limit.map(Int64.init))
    }

    mutating func select(_ predicate: Predicate<Model>?) throws(LarderError) {
        guard let predicate else { return }
        let bound = try BoundExpression(predicate)
        parameters.arguments = bound.arguments
        aggregate.predicate = .tree(bound.expression)
    }

    mutating func append<Output>(
        _ column: AggregateColumn<Model, Output>
    ) throws(LarderError) {
        let name = column.name ?? "column \(isGroup.count + 1)"
        let term = try column.value?.term(&parameters.arguments)
        isGroup.append(column.function == nil)
        guard let function = column.function else {
            if let term { aggregate.groupBy.append(QueryColumn(term, name: name)) }
            return
        }
        var filter: QueryTerm?
        if let predicate = column.filter {
            let bound = try BoundExpression(
                predicate, argumentsFrom: parameters.arguments.count)
            parameters.arguments += bound.arguments
            filter = .tree(bound.expression)
        }
        aggregate.columns.append(Aggregate.Column(function, term, where: filter, name: name))
    }

    /// The store returns the groups first.
    func rows(_ context: ModelContext) throws(LarderError) -> [AggregateRow] {
        let store = try context.objects.model.store(of: Model.entityName)
        var indexes: [Int] = []
        var (group, value) = (0, aggregate.groupBy.count)
        for isGroup in isGroup {
            indexes.append(isGroup ? group : value)
            if isGroup { group += 1 } else { value += 1 }
        }
        return try store.batches(.aggregate(aggregate), parameters)
            .flatMap { $0.rows(store: store.identifier) }
            .map { row in AggregateRow(values: indexes.map { row.values[$0] }) }
    }
}

/// A row of an aggregate, whose values are taken in the order of the columns.
private struct AggregateRow {
    let values: [Value]
    private var index = 0

    init(values: [Value]) { self.values = values }

    mutating func next<Model: PersistentModel, Output>(
        _ column: AggregateColumn<Model, Output>
    ) throws(LarderError) -> Output {
        defer { index += 1 }
        guard index < values.count, let output = column.decode(values[index]) else {
            throw LarderError(
                .wrongType, "column \(index + 1) of \(Model.entityName) is not \(Output.self)")
        }
        return output
    }
}
