import FoundationEssentials
import LarderModel
import LarderSQL

/// The conversion of an attribute's values to another type, or of nil to the default.
struct ValueConversion: Sendable {
    /// The new attribute; its column is the old one.
    let attribute: StoredAttribute
    let formerType: AttributeType

    init(_ attribute: StoredAttribute, from formerType: AttributeType) {
        self.attribute = attribute
        self.formerType = formerType
    }

    /// - Throws: `wrongType` or `malformedValue` for a value that the new type does not have, and
    ///   the errors of the attribute's bounds.
    func converted(_ stored: SQLValue, _ check: ValueCheck) throws(LarderError) -> SQLValue {
        guard stored != .null else { return attribute.defaultValue ?? .null }
        guard let value = stored.value(of: formerType) else {
            throw LarderError(
                .storageFailed, "its value is not \(formerType.nounWithArticle)")
        }
        return try check.stored(try converted(value), attribute)
    }

    private func converted(_ value: Value) throws(LarderError) -> Value {
        let type = attribute.attribute.type
        if type == formerType { return value }
        if type == .string { return .string(value.text) }
        switch value {
        case .string(let text): return try Value(text: text, type: type)
        case .double(let double) where type == .float:
            // Rounding would lose digits.
            if Double(Float(double)) == double { return .float(Float(double)) }
        case .double(let double):
            if let whole = Int64(exactly: double), type != .decimal { return .int(whole) }
        case .float(let float):
            if let whole = Int64(exactly: float), type.isWhole { return .int(whole) }
        case .decimal(let decimal):
            if let number = exactNumber(decimal, type) { return number }
        default: break
        }
        guard let converted = value.converted(to: type) else {
            throw LarderError(
                .wrongType,
                "\(attribute.qualifiedName) takes \(type.nounWithArticle), and the value does not "
                    + "fit")
        }
        return converted
    }

    /// A decimal as a number of a type that has exactly this value.
    private func exactNumber(_ decimal: Decimal, _ type: AttributeType) -> Value? {
        let text = decimal.description
        switch type {
        case .int16, .int32, .int64: return Int64(text).map { .int($0) }
        case .float:
            guard let float = Float(text), Decimal(exactly: float.description) == decimal
            else { return nil }
            return .float(float)
        case .double:
            guard let double = Double(text), Decimal(exactly: double.description) == decimal
            else { return nil }
            return .double(double)
        default: return nil
        }
    }
}

extension AttributeType {
    fileprivate var isWhole: Bool { self == .int16 || self == .int32 || self == .int64 }
}

/// The conversions of a migration as an SQL function, `larder_convert(number, key, value)`.
///
/// A value that cannot be converted becomes nil, and its object is recorded, so that one run finds
/// all of them. Used on the thread of its connection.
final class ValueConversions {
    static let function = "larder_convert"

    private let conversions: [ValueConversion]
    private let check: ValueCheck
    private let faults: MigrationFaults

    init(_ conversions: [ValueConversion], _ check: ValueCheck, _ faults: MigrationFaults) {
        self.conversions = conversions
        self.check = check
        self.faults = faults
    }

    func register(on connection: Connection) throws(SQLError) {
        try connection.registerScalar(name: Self.function, argumentCount: 3) { [self] arguments in
            let conversion = conversions[Int(arguments[0].int64)]
            do throws(LarderError) {
                return try conversion.converted(arguments[2].value, check).result
            } catch {
                faults.report(
                    conversion.attribute.entityName, key: arguments[1].int64, error.message)
                return .null
            }
        }
    }
}

extension FunctionArgument {
    /// A value of any type, copied.
    fileprivate var value: SQLValue {
        switch type {
        case .integer: .integer(int64)
        case .real: .real(double)
        case .text: .text(string)
        case .blob: .blob(withBytes { [UInt8]($0) })
        case .null: .null
        }
    }
}

extension SQLValue {
    fileprivate var result: FunctionResult {
        switch self {
        case .null: .null
        case .integer(let integer): .integer(integer)
        case .real(let real): .real(real)
        case .text(let text): .text(text)
        case .blob(let bytes): .blob(bytes)
        }
    }
}
