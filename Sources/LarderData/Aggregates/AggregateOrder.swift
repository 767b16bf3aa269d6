public import SwiftData

/// A column by which the groups of an aggregate are sorted.
///
///     sort: [.descending(.count), .ascending(.group(by: category))]
///
/// A computed value need not be a column of the result; a value of `group` has to be one.
public struct AggregateOrder<Model: PersistentModel>: Sendable {
    let column: AnyAggregateColumn<Model>
    let isDescending: Bool

    /// The smallest value first, nil before all values.
    public static func ascending<Output>(_ column: AggregateColumn<Model, Output>) -> Self {
        Self(column: AnyAggregateColumn(column), isDescending: false)
    }

    /// The largest value first, nil after all values.
    public static func descending<Output>(_ column: AggregateColumn<Model, Output>) -> Self {
        Self(column: AnyAggregateColumn(column), isDescending: true)
    }
}
