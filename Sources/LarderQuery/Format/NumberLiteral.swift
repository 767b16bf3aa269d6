import FoundationEssentials
import LarderModel

extension Value {
    /// The exact value of an unsigned literal with a fraction or an exponent: a double if the
    /// shortest text of the double is the same number, as that of 9.99 is, or else a decimal; nil
    /// if a decimal cannot have that many digits or so small an exponent.
    ///
    /// A comparison converts either value to the type of its other side. A double becomes the
    /// decimal of its shortest text, so that both are exact for decimals.
    init?(fractionLiteral text: String) {
        guard let double = Double(text), double.isFinite, let digits = DecimalDigits(text) else {
            return nil
        }
        if DecimalDigits(double.description) == digits {
            self = .double(double)
        } else if let decimal = Decimal(exactly: text) {
            self = .decimal(decimal)
        } else {
            return nil
        }
    }

    /// The literal of a decimal that is read as this decimal; nil for other values, and for a
    /// decimal whose digits are read as a double.
    var decimalLiteral: String? {
        guard case .decimal(let decimal) = self, !decimal.isNaN else { return nil }
        let digits = decimal.magnitude.description
        let literal = digits.contains(".") ? digits : "\(digits).0"
        guard Value(fractionLiteral: literal) == .decimal(decimal.magnitude) else { return nil }
        return decimal.isSignMinus ? "-\(literal)" : literal
    }
}
