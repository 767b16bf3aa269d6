public import FoundationEssentials

/// An expression over the fields of a record type: a key path, or a `#Expression`.
struct FieldExpression<Record: EntityRecord>: Sendable {
    private enum Source: Sendable {
        case keyPath(any AnyKeyPath & Sendable)
        case expression(@Sendable (Int) throws(LarderError) -> BoundExpression)
    }

    private let source: Source

    init(_ keyPath: any AnyKeyPath & Sendable) { source = .keyPath(keyPath) }

    init<Output>(_ expression: Expression<Record.Fields, Output>) {
        source = .expression { first throws(LarderError) in
            try BoundExpression(expression, argumentsFrom: first)
        }
    }

    /// The expression of the store; its arguments are appended.
    func term(_ arguments: inout [QueryArgument]) throws(LarderError) -> QueryTerm {
        switch source {
        case .keyPath(let keyPath):
            return .tree(try FieldPath.expression(keyPath, of: Record.self))
        case .expression(let translate):
            let bound = try translate(arguments.count)
            arguments += bound.arguments
            return .tree(bound.expression)
        }
    }
}

/// A sort key of records: `.init(\.title)`, `.init(\.author.name, descending: true)`, or
/// `.init(by: #Expression { $0.books.count })`.
public struct RecordSort<Record: EntityRecord>: Sendable {
    private let expression: FieldExpression<Record>
    private let isDescending: Bool
    private let nilPlacement: SortKey.NilPlacement
    private let stringOrder: StringOrder

    public init<Value>(
        _ keyPath: any KeyPath<Record.Fields, Value> & Sendable, descending: Bool = false,
        nilPlacement: SortKey.NilPlacement = .standard, stringOrder: StringOrder = .plain
    ) {
        expression = FieldExpression(keyPath)
        isDescending = descending
        self.nilPlacement = nilPlacement
        self.stringOrder = stringOrder
    }

    public init<Value>(
        by expression: Expression<Record.Fields, Value>, descending: Bool = false,
        nilPlacement: SortKey.NilPlacement = .standard, stringOrder: StringOrder = .plain
    ) {
        self.expression = FieldExpression(expression)
        isDescending = descending
        self.nilPlacement = nilPlacement
        self.stringOrder = stringOrder
    }

    func key(_ arguments: inout [QueryArgument]) throws(LarderError) -> SortKey {
        SortKey(
            try expression.term(&arguments), descending: isDescending, nilPlacement: nilPlacement,
            stringOrder: stringOrder)
    }
}
