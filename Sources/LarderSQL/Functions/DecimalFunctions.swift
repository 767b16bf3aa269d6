/// Exact aggregates of decimals, which are stored as text. Each takes one number, or a form with
/// its arguments: see ``DecimalForm``.
package enum DecimalFunctions {
    /// The order of decimals. Every connection of a store has it: see `StoreConnection`.
    static let collation = "decimal"
    package static let sum = "larder_decimal_sum"
    package static let average = "larder_decimal_average"
    package static let median = "larder_decimal_median"
    package static let stddev = "larder_decimal_stddev"
}
