import FoundationEssentials
import LarderModel

extension QueryValueConversion {
    /// - Throws: `malformedValue` for NaN, which equals nothing.
    func number(_ value: Value, _ target: TypedValue) throws(LarderError) -> Value {
        let isNaN =
            switch value {
            case .double(let double): double.isNaN
            case .float(let float): float.isNaN
            case .decimal(let decimal): decimal.isNaN
            default: false
            }
        guard !isNaN else {
            throw LarderError(.malformedValue, "\(target.name) cannot be compared with NaN")
        }
        return value
    }

    /// A number for a comparison with integers. Doubles from 2^52 on have no fractions, so that a
    /// decimal with one cannot be compared there.
    func numberBesideIntegers(
        _ value: Value, _ target: TypedValue
    ) throws(LarderError) -> Value {
        guard case .decimal(let decimal) = try number(value, target) else { return value }
        if let integer = decimal.integer { return .int(integer) }
        let isBeyondIntegers =
            decimal >= Decimal(Int64.max) + 1 || decimal <= Decimal(Int64.min) - 1
        guard isBeyondIntegers || decimal.magnitude < Self.halvesEnd else {
            throw LarderError(
                .wrongType, "\(target.name) cannot be compared with so large a number's fraction")
        }
        return value
    }

    private static let halvesEnd = Decimal(Int64(1) << 52)

    /// A number for a comparison with a float or double. It is rounded to a float for a float, as
    /// if it were stored: 0.1 equals a stored 0.1.
    ///
    /// - Throws: `wrongType` for an integer that has no double, because an index would not find it.
    func double(
        _ value: Value, isFloat: Bool, _ target: TypedValue
    ) throws(LarderError) -> Double {
        var number = try number(value, target)
        if case .decimal(let decimal) = number, let integer = decimal.integer {
            number = .int(integer)
        }
        let exact: Double?
        if case .int(let integer) = number {
            exact = Double(exactly: integer)
        } else {
            exact = number.nearestDouble
        }
        guard let exact else {
            throw LarderError(
                .wrongType,
                "\(target.name) is a \(isFloat ? "float" : "double"), "
                    + "which cannot be so large an integer exactly")
        }
        guard isFloat, Float(exact).isFinite else { return exact }
        return Double(Float(exact))
    }

    /// The number as a decimal. A double is read as the shortest decimal with this double: 9.99 is
    /// 9.99.
    func decimal(_ value: Value, _ target: TypedValue) throws(LarderError) -> Value {
        guard let decimal = try number(value, target).converted(to: .decimal) else {
            throw LarderError(.wrongType, "\(target.name) is a decimal and cannot be that number")
        }
        return decimal
    }
}

extension Decimal {
    /// The decimal as a 64-bit integer; nil if it is not one.
    var integer: Int64? {
        let parts = description.split(separator: ".", maxSplits: 1)
        guard parts.count < 2 || parts[1].allSatisfy({ $0 == "0" }) else { return nil }
        return parts.first.flatMap { Int64($0) }
    }
}

extension Value {
    var isNumber: Bool {
        switch self {
        case .int, .float, .double, .decimal: true
        default: false
        }
    }

    /// The nearest double of a number; nil for other values.
    var nearestDouble: Double? {
        switch self {
        case .int(let integer): Double(integer)
        case .float(let float): Double(float)
        case .double(let double): double
        case .decimal(let decimal): Double(decimal.description)
        default: nil
        }
    }
}
