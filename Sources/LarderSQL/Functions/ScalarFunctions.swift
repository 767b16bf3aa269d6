import LarderModel
import LarderQuery

/// The scalar functions that SQLite does not have, or has with another meaning. `LarderModel`
/// defines their results.
package enum ScalarFunctions {
    /// `larder_integer(number)`: the number if it is an integer, otherwise nil. SQLite converts
    /// integers that exceed 64 bits to doubles, and everything computed from them stays a double.
    package static let integer = "larder_integer"
    /// `larder_finite(number)`: the number if it is finite, otherwise nil.
    package static let finite = "larder_finite"

    /// A function is registered for each of its domains under a name of its own.
    package typealias Domain = FunctionDefinition.Domain

    package static func name(of function: ScalarFunction, _ domain: Domain) -> String {
        "larder_\(domain.rawValue)_\(function.name)"
    }
}
