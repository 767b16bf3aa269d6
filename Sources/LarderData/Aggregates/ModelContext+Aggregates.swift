public import Foundation
internal import LarderClient
internal import LarderModel
internal import LarderObjects
public import SwiftData

extension ModelContext {
    /// Groups the models of the store that match and computes values for each group, in the store.
    /// Pending changes do not count.
    ///
    ///     let category = #Expression<Article, String?> { $0.category?.name }
    ///     let rows = try context.aggregate(
    ///         Article.self, .group(by: category), .count, .average(\.words),
    ///         having: #Predicate { _, articles, _ in articles > 5 },
    ///         sort: [.descending(.count), .ascending(.group(by: category))])
    ///
    /// - Parameters:
    ///   - predicate: Which models are grouped; nil for all.
    ///   - having: A predicate over the columns of the result, in their order, which removes
    ///     groups.
    ///   - sort: The columns by which the groups are sorted, the most important first.
    ///   - limit: The largest number of groups; nil is without a limit.
    /// - Returns: the values of each group, in the order of the columns.
    /// - Throws: ``SwiftDataError/unsupportedPredicate`` and ``SwiftDataError/unsupportedKeyPath``
    ///   with the part that the store cannot evaluate.
    public func aggregate<Model: PersistentModel, each Output>(
        _ type: Model.Type, _ columns: repeat AggregateColumn<Model, each Output>,
        where predicate: Predicate<Model>? = nil,
        having: Predicate<repeat each Output>? = nil,
        sort: [AggregateOrder<Model>] = [], limit: Int? = nil
    ) throws -> [(repeat each Output)] {
        try check(Model.self)
        var aggregate = ModelAggregate<Model>()
        repeat aggregate.columns.append(AnyAggregateColumn(each columns))
        let rows = try SwiftDataError.translating { () throws(LarderError) in
            let names = aggregate.columns.indices.map(ModelAggregate<Model>.name)
            var query = try aggregate.query(where: predicate, limit: limit)
            if let having {
                let bound = try BoundExpression(
                    having, overColumns: names, of: Model.self,
                    argumentsFrom: query.parameters.arguments.count)
                query.parameters.arguments += bound.arguments
                query.aggregate.having = .tree(bound.expression)
            }
            try aggregate.sort(&query, by: sort)
            let store = try objects.model.store(of: Model.entityName)
            return try aggregate.rows(query, store)
        }
        return try rows.map { row in
            var row = row
            return (repeat try row.next(each columns))
        }
    }
}

/// An aggregate over models, translated for the store.
private struct ModelAggregate<Model: PersistentModel> {
    struct Translated {
        var aggregate: Aggregate
        var parameters: QueryParameters
    }

    var columns: [AnyAggregateColumn<Model>] = []

    /// The name of a column, to which the predicate over the result and the order refer.
    static func name(_ index: Int) -> String { "column \(index + 1)" }

    func query(
        where predicate: Predicate<Model>?, limit: Int?
    ) throws(LarderError) -> Translated {
        var query = Translated(
            aggregate: Aggregate(Model.entityName, []),
            parameters: QueryParameters(limit: limit.map(Int64.init)))
        if let predicate {
            let bound = try BoundExpression(predicate)
            query.parameters.arguments = bound.arguments
            query.aggregate.predicate = .tree(bound.expression)
        }
        for (index, column) in columns.enumerated() {
            try append(column, named: Self.name(index), to: &query)
        }
        return query
    }

    private func append(
        _ column: AnyAggregateColumn<Model>, named name: String, to query: inout Translated
    ) throws(LarderError) {
        let term = try column.term(&query.parameters.arguments)
        guard let function = column.function else {
            if let term { query.aggregate.groupBy.append(QueryColumn(term, name: name)) }
            return
        }
        let filter = try column.filter(&query.parameters.arguments)
        query.aggregate.columns.append(
            Aggregate.Column(function, term, where: filter, name: name))
    }

    /// A value that is not a column of the result becomes one after the others.
    func sort(
        _ query: inout Translated, by order: [AggregateOrder<Model>]
    ) throws(LarderError) {
        var known: [AnyAggregateColumn<Model>.Computation] = []
        for column in columns { known.append(try column.computation()) }
        for key in order {
            let computation = try key.column.computation()
            let index = known.firstIndex(of: computation) ?? known.count
            let name = Self.name(index)
            if index == known.count {
                guard key.column.function != nil else {
                    throw LarderError(
                        .unsupported,
                        "the groups of \(Model.entityName) are sorted by a value that they do not "
                            + "have",
                        hint: "add it to the columns, which groups by it as well")
                }
                known.append(computation)
                try append(key.column, named: name, to: &query)
            }
            query.aggregate.sort.append(
                SortKey(.tree(.keyPath(.object, [name])), descending: key.isDescending))
        }
    }

    /// The store returns the groups first.
    func rows(
        _ query: Translated, _ store: any ObjectStore
    ) throws(LarderError) -> [AggregateRow] {
        var indexes: [Int] = []
        var (group, value) = (0, query.aggregate.groupBy.count)
        for column in columns {
            indexes.append(column.function == nil ? group : value)
            if column.function == nil { group += 1 } else { value += 1 }
        }
        return try store.batches(.aggregate(query.aggregate), query.parameters)
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
