/// The most frequent value, the smallest of several; nil for no values.
package enum ModeFunctions {
    package static let mode = "larder_mode"
    package static let decimalMode = "larder_decimal_mode"
}
