import FoundationEssentials
import LarderModel

extension ValueConverter {
    /// A number of any type, for a comparison with a stored number; nil if it is no number.
    ///
    /// SQLite compares integers and doubles exactly, so a fraction can be compared with integers.
    func number(_ value: Value, _ target: PlanValue) throws(LarderError) -> SQLValue? {
        switch value {
        case .int(let integer): return .integer(integer)
        case .double(let double): return try real(double, target)
        case .float(let float): return try real(Double(float), target)
        case .decimal(let decimal):
            guard let text = DecimalText.canonical(decimal) else { throw notANumber(target) }
            if let integer = Int64(text) { return .integer(integer) }
            guard let double = Double(text) else { throw notANumber(target) }
            return .real(double)
        default: return nil
        }
    }

    /// A number of any type, for a comparison with stored integers; nil if it is no number.
    ///
    /// The nearest double to a fractional decimal may be an integer. Therefore a fraction becomes
    /// the half between the same two integers, and a number outside the range of integers becomes
    /// infinity.
    func numberBesideIntegers(
        _ value: Value, _ target: PlanValue
    ) throws(LarderError) -> SQLValue? {
        guard case .decimal(let decimal) = value else { return try number(value, target) }
        guard let text = DecimalText.canonical(decimal) else { throw notANumber(target) }
        if let integer = Int64(text) { return .integer(integer) }
        let sign = text.hasPrefix("-") ? -1.0 : 1.0
        guard let whole = Int64(text.prefix { $0 != "." }) else { return .real(sign * .infinity) }
        guard whole.magnitude < Self.halvesEnd else {
            throw LarderError(
                .wrongType, "\(target.name) cannot be compared with so large a number's fraction")
        }
        return .real(Double(whole) + sign / 2)
    }

    /// Doubles from here on have no fractions.
    private static let halvesEnd: UInt64 = 1 << 52

    private func real(_ double: Double, _ target: PlanValue) throws(LarderError) -> SQLValue {
        // SQLite converts NaN to NULL.
        guard !double.isNaN else { throw notANumber(target) }
        return .real(double)
    }

    private func notANumber(_ target: PlanValue) -> LarderError {
        LarderError(.malformedValue, "\(target.name) cannot be compared with NaN")
    }

    /// A number for a comparison with a float or double. It is rounded to a float for a float, as
    /// if it were stored: 0.1 equals a stored 0.1.
    func floating(
        _ number: SQLValue, isFloat: Bool, _ target: PlanValue
    ) throws(LarderError) -> SQLValue {
        var double: Double
        switch number {
        case .real(let real): double = real
        case .integer(let integer):
            guard let exact = Double(exactly: integer) else {
                throw LarderError(
                    .wrongType,
                    "\(target.name) is a \(isFloat ? "float" : "double"), "
                        + "which cannot be so large an integer exactly")
            }
            double = exact
        default: preconditionFailure("a number is an integer or a double")
        }
        if isFloat, Float(double).isFinite { double = Double(Float(double)) }
        return .real(double)
    }

    /// The canonical text of a number for a comparison with a decimal; nil if it is no number.
    func decimal(_ value: Value, _ target: PlanValue) throws(LarderError) -> String? {
        switch value {
        case .decimal(let decimal):
            guard let text = DecimalText.canonical(decimal) else { throw notANumber(target) }
            return text
        case .int(let integer): return String(integer)
        case .double(let double): return try decimal(double.description, target)
        case .float(let float): return try decimal(float.description, target)
        default: return nil
        }
    }

    /// A double is read as the shortest decimal with this double: 9.99 is 9.99.
    private func decimal(_ text: String, _ target: PlanValue) throws(LarderError) -> String {
        guard let decimal = Decimal(exactly: text), let canonical = DecimalText.canonical(decimal)
        else {
            throw LarderError(.wrongType, "\(target.name) is a decimal and cannot be that number")
        }
        return canonical
    }

    /// The stored form of a value that is only compared with another value, by its own type.
    func naturalBinding(_ value: Value, for target: PlanValue) throws(LarderError) -> SQLValue {
        switch value {
        case .null: .null
        case .bool(let bool): .integer(bool ? 1 : 0)
        case .int, .float, .double, .decimal: try number(value, target) ?? .null
        case .string(let string): .text(string.normalized(interruption))
        case .date: try SQLValue(storing: value, as: .date, named: target.name)
        case .uuid: try SQLValue(storing: value, as: .uuid, named: target.name)
        case .url: try SQLValue(storing: value, as: .url, named: target.name)
        case .data: try SQLValue(storing: value, as: .data, named: target.name)
        case .json: try SQLValue(storing: value, as: .json, named: target.name)
        case .object(let identifier):
            .text("\(currentName(of: identifier))/\(try key(of: identifier))")
        case .objects: throw mismatch(value, target)
        }
    }
}
