/// Aggregates over numbers that SQLite does not have.
package enum StatisticFunctions {
    /// The middle value, or the mean of the two middle values; nil for no values.
    package static let median = "larder_median"
    /// The standard deviation of a population, as Core Data's `stddev:`; nil for no values.
    package static let stddev = "larder_stddev"
}
