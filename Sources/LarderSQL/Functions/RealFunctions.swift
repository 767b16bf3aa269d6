/// Exactly rounded sums of doubles. SQLite rounds after each addition, so its result depends on the
/// order of the rows.
package enum RealFunctions {
    /// 0 for no values.
    package static let sum = "larder_real_sum"
    /// Nil for no values.
    package static let average = "larder_real_average"
}
