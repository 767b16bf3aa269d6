import FoundationEssentials
import LarderModel

extension ValueConverter {
    /// A number of any kind, to be compared with a stored number; nil if it is none.
    ///
    /// SQLite compares integers and doubles exactly, so a fraction may meet an integer column.
    func number(_ value: Value, _ place: PlanValue) throws(LarderError) -> SQLBinding? {
        switch value {
        case .int(let integer): return .integer(integer)
        case .double(let double): return try real(double, place)
        case .float(let float): return try real(Double(float), place)
        case .decimal(let decimal):
            guard let text = DecimalText.canonical(decimal) else { throw notANumber(place) }
            if let integer = Int64(text) { return .integer(integer) }
            guard let double = Double(text) else { throw notANumber(place) }
            return .real(double)
        default: return nil
        }
    }

    /// A number of any kind, to be compared with stored integers; nil if it is none.
    ///
    /// The double next to a decimal may be an integer although the decimal is none. So a fraction
    /// is taken as the half between the same two integers, and what lies beyond all integers as
    /// infinity.
    func numberBesideIntegers(
        _ value: Value, _ place: PlanValue
    ) throws(LarderError) -> SQLBinding? {
        guard case .decimal(let decimal) = value else { return try number(value, place) }
        guard let text = DecimalText.canonical(decimal) else { throw notANumber(place) }
        if let integer = Int64(text) { return .integer(integer) }
        let sign = text.hasPrefix("-") ? -1.0 : 1.0
        guard let whole = Int64(text.prefix { $0 != "." }) else { return .real(sign * .infinity) }
        guard whole.magnitude < Self.halvesEnd else {
            throw LarderError(
                .wrongType, "\(place.name) cannot be compared with so large a number's fraction")
        }
        return .real(Double(whole) + sign / 2)
    }

    /// Doubles from here on have no halves.
    private static let halvesEnd: UInt64 = 1 << 52

    private func real(_ double: Double, _ place: PlanValue) throws(LarderError) -> SQLBinding {
        // SQLite would take a NaN for nil.
        guard !double.isNaN else { throw notANumber(place) }
        return .real(double)
    }

    private func notANumber(_ place: PlanValue) -> LarderError {
        LarderError(.malformedValue, "\(place.name) cannot be compared with what is not a number")
    }

    /// A number to be compared with a float or double. A fraction meets a float as the float that
    /// it would be stored as: 0.1 equals a stored 0.1.
    func floating(
        _ number: SQLBinding, isFloat: Bool, _ place: PlanValue
    ) throws(LarderError) -> SQLBinding {
        var double: Double
        switch number {
        case .real(let real): double = real
        case .integer(let integer):
            guard let exact = Double(exactly: integer) else {
                throw LarderError(
                    .wrongType,
                    "\(place.name) is a \(isFloat ? "float" : "double"), "
                        + "which cannot be so large an integer exactly")
            }
            double = exact
        default: preconditionFailure("a number is an integer or a double")
        }
        if isFloat, Float(double).isFinite { double = Double(Float(double)) }
        return .real(double)
    }

    /// The canonical text of a number that is to be compared with a decimal; nil if it is none.
    func decimal(_ value: Value, _ place: PlanValue) throws(LarderError) -> String? {
        switch value {
        case .decimal(let decimal):
            guard let text = DecimalText.canonical(decimal) else { throw notANumber(place) }
            return text
        case .int(let integer): return String(integer)
        case .double(let double): return try decimal(double.description, place)
        case .float(let float): return try decimal(float.description, place)
        default: return nil
        }
    }

    /// A double stands for the shortest decimal that is this double: 9.99 is 9.99.
    private func decimal(_ text: String, _ place: PlanValue) throws(LarderError) -> String {
        guard let decimal = Decimal(exactly: text), let canonical = DecimalText.canonical(decimal)
        else {
            throw LarderError(.wrongType, "\(place.name) is a decimal and cannot be that number")
        }
        return canonical
    }

    /// A value that is compared with another value only, in the form of its own type.
    func naturalBinding(_ value: Value, for place: PlanValue) throws(LarderError) -> SQLBinding {
        switch value {
        case .null: .null
        case .bool(let bool): .integer(bool ? 1 : 0)
        case .int, .float, .double, .decimal: try number(value, place) ?? .null
        case .string(let string): .text(string.normalized)
        case .date: try SQLBinding(storing: value, as: .date, named: place.name)
        case .uuid: try SQLBinding(storing: value, as: .uuid, named: place.name)
        case .url: try SQLBinding(storing: value, as: .url, named: place.name)
        case .data: try SQLBinding(storing: value, as: .data, named: place.name)
        case .json: try SQLBinding(storing: value, as: .json, named: place.name)
        case .object(let identifier):
            .text("\(identifier.entityName)/\(try key(of: identifier))")
        case .objects: throw mismatch(value, place)
        }
    }
}
