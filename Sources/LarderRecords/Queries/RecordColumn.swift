public import FoundationEssentials

/// A column of an aggregate over records: a value by which objects are grouped, or one that the
/// store computes for each group.
///
///     let rows = try store.aggregate(Book.self, .group(\.author.name), .count, .average(\.pages))
///     for (author, books, pages) in rows { … }    // String, Int, Double?
public struct RecordColumn<Record: EntityRecord, Output: Sendable>: Sendable {
    var column: ColumnExpression<Record>
    let decode: @Sendable (Value) -> Output?

    private init(
        _ function: AggregateFunction?, _ expression: FieldExpression<Record>?,
        _ decode: @escaping @Sendable (Value) -> Output?
    ) {
        column = ColumnExpression(function: function, expression: expression)
        self.decode = decode
    }

    /// The column with a name, to which `having` and `sort` refer.
    public func named(_ name: String) -> RecordColumn {
        var column = self
        column.column.name = name
        return column
    }

    /// The column computed of the objects that satisfy the predicate only. A column by which
    /// objects are grouped cannot have one.
    public func filtered(_ predicate: Predicate<Record.Fields>) -> RecordColumn {
        var column = self
        column.column.filter = predicate
        return column
    }
}

/// A column without the type of its values.
struct ColumnExpression<Record: EntityRecord>: Sendable {
    /// Nil if objects are grouped by the expression.
    let function: AggregateFunction?
    /// Nil for the number of objects.
    let expression: FieldExpression<Record>?
    var filter: Predicate<Record.Fields>?
    var name: String?
}

// The values by which objects are grouped.

extension RecordColumn where Output: AttributeValue {
    public static func group(_ keyPath: any KeyPath<Record.Fields, Output> & Sendable) -> Self {
        Self(nil, FieldExpression(keyPath)) { Output(storeValue: $0) }
    }

    public static func group(_ expression: Expression<Record.Fields, Output>) -> Self {
        Self(nil, FieldExpression(expression)) { Output(storeValue: $0) }
    }
}

extension RecordColumn where Output: RawRepresentable, Output.RawValue: AttributeValue {
    @_disfavoredOverload
    public static func group(_ keyPath: any KeyPath<Record.Fields, Output> & Sendable) -> Self {
        Self(nil, FieldExpression(keyPath)) {
            Output.RawValue(storeValue: $0).flatMap { Output(rawValue: $0) }
        }
    }
}

extension RecordColumn {
    /// Groups by the object of a to-one relationship.
    public static func group<Target: RecordFields>(
        _ keyPath: any KeyPath<Record.Fields, Target> & Sendable
    ) -> Self where Output == Ref<Target.Record> {
        Self(nil, FieldExpression(keyPath)) {
            if case .object(let identifier) = $0 { Ref(identifier) } else { nil }
        }
    }

    /// Groups by the object of a to-one relationship, or by nil.
    public static func group<Target: RecordFields>(
        _ keyPath: any KeyPath<Record.Fields, Target?> & Sendable
    ) -> Self where Output == Ref<Target.Record>? {
        Self(nil, FieldExpression(keyPath)) {
            switch $0 {
            case .null: .some(nil)
            case .object(let identifier): .some(Ref(identifier))
            default: nil
            }
        }
    }
}

// The computed values. `docs/queries.md` defines each function; nil values are ignored.

extension RecordColumn where Output == Int {
    /// The number of objects.
    public static var count: Self { Self(.count, nil) { Int(storeValue: $0) } }

    /// The number of values that are not nil.
    public static func count<Value>(
        of keyPath: any KeyPath<Record.Fields, Value> & Sendable
    ) -> Self {
        Self(.count, FieldExpression(keyPath)) { Int(storeValue: $0) }
    }

    /// The number of different values.
    public static func countDistinct<Value>(
        _ keyPath: any KeyPath<Record.Fields, Value> & Sendable
    ) -> Self {
        Self(.countDistinct, FieldExpression(keyPath)) { Int(storeValue: $0) }
    }
}

extension RecordColumn where Output: AttributeValue & Numeric {
    /// The exact sum; 0 if there are no values.
    public static func sum(_ keyPath: any KeyPath<Record.Fields, Output> & Sendable) -> Self {
        Self(.sum, FieldExpression(keyPath)) { Output(storeValue: $0) }
    }

    /// The exact sum; 0 if there are no values.
    public static func sum(_ keyPath: any KeyPath<Record.Fields, Output?> & Sendable) -> Self {
        Self(.sum, FieldExpression(keyPath)) { Output(storeValue: $0) }
    }

    /// The exact sum; 0 if there are no values.
    public static func sum(_ expression: Expression<Record.Fields, Output>) -> Self {
        Self(.sum, FieldExpression(expression)) { Output(storeValue: $0) }
    }
}

extension RecordColumn where Output == Double? {
    /// The average; nil if there are no values.
    public static func average<Value>(
        _ keyPath: any KeyPath<Record.Fields, Value> & Sendable
    ) -> Self { number(.average, FieldExpression(keyPath)) }

    /// The average of an expression; nil if there are no values.
    public static func average<Value>(_ expression: Expression<Record.Fields, Value>) -> Self {
        number(.average, FieldExpression(expression))
    }

    /// The median, the mean of the two middle values of an even number; nil if there are none.
    public static func median<Value>(
        _ keyPath: any KeyPath<Record.Fields, Value> & Sendable
    ) -> Self { number(.median, FieldExpression(keyPath)) }

    /// The standard deviation of the values; nil if there are none.
    public static func stddev<Value>(
        _ keyPath: any KeyPath<Record.Fields, Value> & Sendable
    ) -> Self { number(.stddev, FieldExpression(keyPath)) }

    /// A decimal is rounded to the nearest double.
    private static func number(
        _ function: AggregateFunction, _ expression: FieldExpression<Record>
    ) -> Self {
        Self(function, expression) { value in
            if case .decimal(let decimal) = value { return Double("\(decimal)") }
            return Double?(storeValue: value)
        }
    }
}

extension RecordColumn where Output == Decimal? {
    /// The average of decimals, exact as far as a decimal is; nil if there are no values.
    public static func average(
        _ keyPath: any KeyPath<Record.Fields, Decimal> & Sendable
    ) -> Self { Self(.average, FieldExpression(keyPath)) { Decimal?(storeValue: $0) } }

    /// The average of decimals, exact as far as a decimal is; nil if there are no values.
    public static func average(
        _ keyPath: any KeyPath<Record.Fields, Decimal?> & Sendable
    ) -> Self { Self(.average, FieldExpression(keyPath)) { Decimal?(storeValue: $0) } }
}

extension RecordColumn {
    /// The smallest value; nil if there are none.
    public static func minimum<Value: AttributeValue>(
        _ keyPath: any KeyPath<Record.Fields, Value> & Sendable
    ) -> Self where Output == Value? { value(.minimum, keyPath) }

    /// The smallest value that is not nil; nil if there are none.
    public static func minimum<Value: AttributeValue>(
        _ keyPath: any KeyPath<Record.Fields, Value?> & Sendable
    ) -> Self where Output == Value? { value(.minimum, keyPath) }

    /// The largest value; nil if there are none.
    public static func maximum<Value: AttributeValue>(
        _ keyPath: any KeyPath<Record.Fields, Value> & Sendable
    ) -> Self where Output == Value? { value(.maximum, keyPath) }

    /// The largest value that is not nil; nil if there are none.
    public static func maximum<Value: AttributeValue>(
        _ keyPath: any KeyPath<Record.Fields, Value?> & Sendable
    ) -> Self where Output == Value? { value(.maximum, keyPath) }

    /// The most frequent value; nil if there are none.
    public static func mode<Value: AttributeValue>(
        _ keyPath: any KeyPath<Record.Fields, Value> & Sendable
    ) -> Self where Output == Value? { value(.mode, keyPath) }

    private static func value<Value: AttributeValue>(
        _ function: AggregateFunction, _ keyPath: any AnyKeyPath & Sendable
    ) -> Self where Output == Value? {
        Self(function, FieldExpression(keyPath)) { Value?(storeValue: $0) }
    }
}
