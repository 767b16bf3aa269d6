public import FoundationEssentials

/// A Swift value that is a value of the store, so that variables can be passed where a ``Value`` is
/// needed: `["title": title]`.
public protocol ValueConvertible: Sendable {
    var storeValue: Value { get }
}

/// A Swift type whose values an attribute holds.
///
/// A type of your own can conform, for example a sum of money that is stored as a decimal.
public protocol AttributeValue: ValueConvertible {
    /// The type of the attribute.
    static var attributeType: AttributeType { get }
    /// Whether the attribute may be nil.
    static var isOptional: Bool { get }

    /// The value of an attribute of this type; nil if it is not one of this Swift type.
    init?(storeValue: Value)
}

extension AttributeValue {
    public static var isOptional: Bool { false }
}

extension Value: ValueConvertible {
    public var storeValue: Value { self }

    /// The value of the store for a Swift value: `Value(title)`.
    public init(_ convertible: some ValueConvertible) { self = convertible.storeValue }
}

extension PersistentIdentifier: ValueConvertible {
    public var storeValue: Value { .object(self) }
}

extension Array: ValueConvertible where Element == PersistentIdentifier {
    public var storeValue: Value { .objects(self) }
}

extension Optional: ValueConvertible where Wrapped: ValueConvertible {
    public var storeValue: Value { self?.storeValue ?? .null }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
    public static var attributeType: AttributeType { Wrapped.attributeType }
    public static var isOptional: Bool { true }

    public init?(storeValue: Value) {
        if storeValue.isNull {
            self = .none
        } else if let wrapped = Wrapped(storeValue: storeValue) {
            self = .some(wrapped)
        } else {
            return nil
        }
    }
}

/// An enum with raw values conforms by its declaration alone.
extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
    public static var attributeType: AttributeType { RawValue.attributeType }
    public var storeValue: Value { rawValue.storeValue }

    public init?(storeValue: Value) {
        guard let raw = RawValue(storeValue: storeValue) else { return nil }
        self.init(rawValue: raw)
    }
}

extension Bool: AttributeValue {
    public static var attributeType: AttributeType { .bool }
    public var storeValue: Value { .bool(self) }

    public init?(storeValue: Value) {
        guard case .bool(let bool) = storeValue else { return nil }
        self = bool
    }
}

/// The integers whose every value fits into 64 bits.
extension AttributeValue where Self: SignedInteger & FixedWidthInteger {
    public var storeValue: Value { .int(Int64(self)) }

    public init?(storeValue: Value) {
        guard case .int(let integer) = storeValue else { return nil }
        self.init(exactly: integer)
    }
}

extension Int: AttributeValue {
    public static var attributeType: AttributeType { .int64 }
}

extension Int64: AttributeValue {
    public static var attributeType: AttributeType { .int64 }
}

extension Int32: AttributeValue {
    public static var attributeType: AttributeType { .int32 }
}

extension Int16: AttributeValue {
    public static var attributeType: AttributeType { .int16 }
}

extension Float: AttributeValue {
    public static var attributeType: AttributeType { .float }
    public var storeValue: Value { .float(self) }

    public init?(storeValue: Value) {
        guard case .float(let float) = storeValue else { return nil }
        self = float
    }
}

/// Also a float of the store is a Double.
extension Double: AttributeValue {
    public static var attributeType: AttributeType { .double }
    public var storeValue: Value { .double(self) }

    public init?(storeValue: Value) {
        switch storeValue {
        case .double(let double): self = double
        case .float(let float): self = Double(float)
        default: return nil
        }
    }
}

/// Also an integer of the store is a Decimal.
extension Decimal: AttributeValue {
    public static var attributeType: AttributeType { .decimal }
    public var storeValue: Value { .decimal(self) }

    public init?(storeValue: Value) {
        switch storeValue {
        case .decimal(let decimal): self = decimal
        case .int(let integer): self = Decimal(integer)
        default: return nil
        }
    }
}

extension String: AttributeValue {
    public static var attributeType: AttributeType { .string }
    public var storeValue: Value { .string(self) }

    public init?(storeValue: Value) {
        guard case .string(let string) = storeValue else { return nil }
        self = string
    }
}

extension Date: AttributeValue {
    public static var attributeType: AttributeType { .date }
    public var storeValue: Value { .date(self) }

    public init?(storeValue: Value) {
        guard case .date(let date) = storeValue else { return nil }
        self = date
    }
}

extension UUID: AttributeValue {
    public static var attributeType: AttributeType { .uuid }
    public var storeValue: Value { .uuid(self) }

    public init?(storeValue: Value) {
        guard case .uuid(let uuid) = storeValue else { return nil }
        self = uuid
    }
}

extension URL: AttributeValue {
    public static var attributeType: AttributeType { .url }
    public var storeValue: Value { .url(self) }

    public init?(storeValue: Value) {
        guard case .url(let url) = storeValue else { return nil }
        self = url
    }
}

extension Data: AttributeValue {
    public static var attributeType: AttributeType { .data }
    public var storeValue: Value { .data(self) }

    public init?(storeValue: Value) {
        guard case .data(let data) = storeValue else { return nil }
        self = data
    }
}
