internal import Foundation
internal import LarderClient
internal import LarderModel
internal import SwiftData

/// A column of an aggregate, whatever its values are.
///
/// Unchecked: key paths of properties, expressions and predicates are immutable.
struct AnyAggregateColumn<Model: PersistentModel>: @unchecked Sendable {
    /// Nil if models are grouped by the value.
    let function: AggregateFunction?
    private let value: ModelValue<Model>?
    private let filter: Predicate<Model>?

    /// The computation of the store, with the arguments of the term and the filter. Two columns are
    /// the same one if these are equal.
    struct Computation: Hashable {
        var function: AggregateFunction?
        var term: QueryTerm?
        var filter: QueryTerm?
        var arguments: [QueryArgument]
    }

    init<Output>(_ column: AggregateColumn<Model, Output>) {
        function = column.function
        value = column.value
        filter = column.filter
    }

    func computation() throws(LarderError) -> Computation {
        var arguments: [QueryArgument] = []
        let term = try term(&arguments)
        let filter = try filter(&arguments)
        return Computation(function: function, term: term, filter: filter, arguments: arguments)
    }

    /// The value of a model as the store computes it; the arguments are appended.
    func term(_ arguments: inout [QueryArgument]) throws(LarderError) -> QueryTerm? {
        try value?.term(&arguments)
    }

    /// The predicate that selects the models; the arguments are appended.
    func filter(_ arguments: inout [QueryArgument]) throws(LarderError) -> QueryTerm? {
        guard let filter else { return nil }
        let bound = try BoundExpression(filter, argumentsFrom: arguments.count)
        arguments += bound.arguments
        return .tree(bound.expression)
    }
}
