public import Foundation
internal import LarderClient
public import LarderModel
public import SwiftData

/// A column of an aggregate over models: a value by which they are grouped, or one that the store
/// computes for each group.
///
///     let category = #Expression<Article, String?> { $0.category?.name }
///     let rows = try context.aggregate(
///         Article.self, .group(by: category), .count, .average(\.words))
///     for (category, articles, words) in rows { … }    // String?, Int, Double?
///
/// Unchecked: key paths of properties and expressions are immutable.
public struct AggregateColumn<Model: PersistentModel, Output>: @unchecked Sendable {
    /// Nil if models are grouped by the value.
    let function: AggregateFunction?
    /// The value of a model; nil for the number of models.
    let value: ModelValue<Model>?
    let decode: @Sendable (Value) -> Output?
    private(set) var filter: Predicate<Model>?

    private init(
        _ function: AggregateFunction?, _ value: ModelValue<Model>?,
        _ decode: @escaping @Sendable (Value) -> Output?
    ) {
        self.function = function
        self.value = value
        self.decode = decode
    }

    /// The column computed of the models that match only.
    public func filtered(_ predicate: Predicate<Model>) -> Self {
        var column = self
        column.filter = predicate
        return column
    }
}

// The values by which models are grouped.

extension AggregateColumn where Output: AttributeValue {
    public static func group(_ keyPath: KeyPath<Model, Output>) -> Self {
        Self(nil, ModelValue(keyPath)) { Output(storeValue: $0) }
    }

    /// A value along relationships, or a computed one.
    public static func group(by expression: Expression<Model, Output>) -> Self {
        Self(nil, ModelValue(expression)) { Output(storeValue: $0) }
    }
}

extension AggregateColumn where Output == PersistentIdentifier? {
    /// Groups by the model of a to-one relationship.
    public static func group<Target: PersistentModel>(
        _ keyPath: KeyPath<Model, Target?>
    ) -> Self { Self(nil, ModelValue(keyPath), identifier) }

    public static func group<Target: PersistentModel>(
        _ keyPath: KeyPath<Model, Target>
    ) -> Self { Self(nil, ModelValue(keyPath), identifier) }

    private static var identifier: @Sendable (Value) -> PersistentIdentifier?? {
        { value in
            switch value {
            case .null: .some(nil)
            case .object(let identifier): .some(identifier)
            default: nil
            }
        }
    }
}

// The computed values. `docs/queries.md` defines each function; nil values are ignored.

extension AggregateColumn where Output == Int {
    /// The number of models.
    public static var count: Self { Self(.count, nil) { Int(storeValue: $0) } }

    /// The number of values that are not nil.
    public static func count<Member>(of keyPath: KeyPath<Model, Member>) -> Self {
        Self(.count, ModelValue(keyPath)) { Int(storeValue: $0) }
    }

    /// The number of different values.
    public static func countDistinct<Member>(_ keyPath: KeyPath<Model, Member>) -> Self {
        Self(.countDistinct, ModelValue(keyPath)) { Int(storeValue: $0) }
    }
}

extension AggregateColumn where Output: AttributeValue & Numeric {
    /// The exact sum; 0 if there are no values.
    public static func sum(_ keyPath: KeyPath<Model, Output>) -> Self {
        Self(.sum, ModelValue(keyPath)) { Output(storeValue: $0) }
    }

    public static func sum(_ keyPath: KeyPath<Model, Output?>) -> Self {
        Self(.sum, ModelValue(keyPath)) { Output(storeValue: $0) }
    }

    public static func sum(_ expression: Expression<Model, Output>) -> Self {
        Self(.sum, ModelValue(expression)) { Output(storeValue: $0) }
    }
}

extension AggregateColumn where Output == Double? {
    /// The average; nil if there are no values.
    public static func average<Member>(_ keyPath: KeyPath<Model, Member>) -> Self {
        number(.average, ModelValue(keyPath))
    }

    public static func average<Member>(_ expression: Expression<Model, Member>) -> Self {
        number(.average, ModelValue(expression))
    }

    /// The median, the mean of the two middle values of an even number; nil if there are none.
    public static func median<Member>(_ keyPath: KeyPath<Model, Member>) -> Self {
        number(.median, ModelValue(keyPath))
    }

    /// The standard deviation of the values; nil if there are none.
    public static func stddev<Member>(_ keyPath: KeyPath<Model, Member>) -> Self {
        number(.stddev, ModelValue(keyPath))
    }

    /// A decimal is rounded to the nearest double.
    private static func number(_ function: AggregateFunction, _ value: ModelValue<Model>) -> Self {
        Self(function, value) { value in
            if case .decimal(let decimal) = value { return Double("\(decimal)") }
            return Double?(storeValue: value)
        }
    }
}

extension AggregateColumn {
    /// The smallest value; nil if there are none.
    public static func minimum<Member: AttributeValue>(
        _ keyPath: KeyPath<Model, Member>
    ) -> Self where Output == Member? {
        Self(.minimum, ModelValue(keyPath)) { Member?(storeValue: $0) }
    }

    /// The largest value; nil if there are none.
    public static func maximum<Member: AttributeValue>(
        _ keyPath: KeyPath<Model, Member>
    ) -> Self where Output == Member? {
        Self(.maximum, ModelValue(keyPath)) { Member?(storeValue: $0) }
    }

    /// The smallest value that is not nil; nil if there are none.
    public static func minimum<Member: AttributeValue>(
        _ keyPath: KeyPath<Model, Member?>
    ) -> Self where Output == Member? {
        Self(.minimum, ModelValue(keyPath)) { Member?(storeValue: $0) }
    }

    /// The largest value that is not nil; nil if there are none.
    public static func maximum<Member: AttributeValue>(
        _ keyPath: KeyPath<Model, Member?>
    ) -> Self where Output == Member? {
        Self(.maximum, ModelValue(keyPath)) { Member?(storeValue: $0) }
    }
}
