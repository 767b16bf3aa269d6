import LarderModel
import LarderQuery

/// Arithmetic of decimals, of any number of steps, in one call of an SQL function: the numbers
/// between two steps are never written as text and parsed again.
///
/// The first argument is the form: the functions in prefix notation, each as one character, and for
/// each of the other arguments, in their order, a point, or a colon if it is the same for all rows.
/// `larder_decimal('*+..:', a, b, ?)` is `(a + b) * ?`. `SQLWriter` writes forms; the depth of an
/// expression bounds their depth.
package enum DecimalArithmetic {
    /// `larder_decimal(form, …)`: the result; nil if an argument is nil, and if a step has no
    /// result.
    package static let value = "larder_decimal"
    /// `larder_decimal_order(form, …)`, with a form of two numbers: -1, 0 or 1 if the first is
    /// less than, equal to or greater than the second; nil if one of them is nil.
    package static let order = "larder_decimal_order"

    package static let argument = "."
    package static let constant = ":"

    /// The character of a function of one or two decimals; nil for other functions.
    package static func symbol(of function: ScalarFunction) -> String? {
        switch function {
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        case .divide: "/"
        case .modulus: "%"
        case .negate: "n"
        case .abs: "a"
        case .floor: "f"
        case .ceiling: "c"
        case .round: "r"
        case .trunc: "t"
        default: nil
        }
    }
}
