/// Exact sums and averages of 64-bit integers, from the sums of their halves. SQLite's own sum
/// fails if an intermediate sum exceeds 64 bits, and its average loses digits.
package enum IntegerFunctions {
    /// `larder_sum(high, low)`: the sum, from the sums of `x >> 32` and `x & 4294967295`; 0 for no
    /// values.
    package static let sum = "larder_sum"
    /// `larder_average(high, low, count)`: the average; nil for no values.
    package static let average = "larder_average"
}
