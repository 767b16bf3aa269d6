public import Foundation
public import LarderModel

/// A type whose values a cell of an object has as they are.
///
/// The accessors of models choose by it at compile time, so reading such a property is a look-up.
public protocol _AttributeScalar {
    /// The value in a cell; nil if the cell has a value of another type.
    init?(_cell: Value)
    var _cell: Value { get }
    /// A value for an object that has none, so that reading never ends the process.
    static var _blank: Self { get }
}

extension Bool: _AttributeScalar {
    @inlinable public init?(_cell: Value) {
        guard case .bool(let bool) = _cell else { return nil }
        self = bool
    }
    @inlinable public var _cell: Value { .bool(self) }
    public static var _blank: Bool { false }
}

extension _AttributeScalar where Self: FixedWidthInteger {
    @inlinable public init?(_cell: Value) {
        guard case .int(let int) = _cell else { return nil }
        self.init(exactly: int)
    }
    @inlinable public var _cell: Value { .int(Int64(truncatingIfNeeded: self)) }
    public static var _blank: Self { 0 }
}

extension Int: _AttributeScalar {}
extension Int8: _AttributeScalar {}
extension Int16: _AttributeScalar {}
extension Int32: _AttributeScalar {}
extension Int64: _AttributeScalar {}
extension UInt8: _AttributeScalar {}
extension UInt16: _AttributeScalar {}
extension UInt32: _AttributeScalar {}

extension Double: _AttributeScalar {
    @inlinable public init?(_cell: Value) {
        guard case .double(let double) = _cell else { return nil }
        self = double
    }
    @inlinable public var _cell: Value { .double(self) }
    public static var _blank: Double { 0 }
}

extension Float: _AttributeScalar {
    @inlinable public init?(_cell: Value) {
        guard case .float(let float) = _cell else { return nil }
        self = float
    }
    @inlinable public var _cell: Value { .float(self) }
    public static var _blank: Float { 0 }
}

extension String: _AttributeScalar {
    @inlinable public init?(_cell: Value) {
        guard case .string(let string) = _cell else { return nil }
        self = string
    }
    @inlinable public var _cell: Value { .string(self) }
    public static var _blank: String { "" }
}

extension Date: _AttributeScalar {
    @inlinable public init?(_cell: Value) {
        guard case .date(let date) = _cell else { return nil }
        self = date
    }
    @inlinable public var _cell: Value { .date(self) }
    public static var _blank: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension Data: _AttributeScalar {
    @inlinable public init?(_cell: Value) {
        guard case .data(let data) = _cell else { return nil }
        self = data
    }
    @inlinable public var _cell: Value { .data(self) }
    public static var _blank: Data { Data() }
}

extension UUID: _AttributeScalar {
    @inlinable public init?(_cell: Value) {
        guard case .uuid(let uuid) = _cell else { return nil }
        self = uuid
    }
    @inlinable public var _cell: Value { .uuid(self) }
    public static var _blank: UUID {
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }
}

extension URL: _AttributeScalar {
    @inlinable public init?(_cell: Value) {
        guard case .url(let url) = _cell else { return nil }
        self = url
    }
    @inlinable public var _cell: Value { .url(self) }
    public static var _blank: URL { URL(filePath: "/") }
}

extension Decimal: _AttributeScalar {
    @inlinable public init?(_cell: Value) {
        guard case .decimal(let decimal) = _cell else { return nil }
        self = decimal
    }
    @inlinable public var _cell: Value { .decimal(self) }
    public static var _blank: Decimal { 0 }
}

extension Optional: _AttributeScalar where Wrapped: _AttributeScalar {
    @inlinable public init?(_cell: Value) {
        if case .null = _cell {
            self = .none
            return
        }
        guard let wrapped = Wrapped(_cell: _cell) else { return nil }
        self = wrapped
    }
    @inlinable public var _cell: Value { self.map(\._cell) ?? .null }
    public static var _blank: Wrapped? { nil }
}
