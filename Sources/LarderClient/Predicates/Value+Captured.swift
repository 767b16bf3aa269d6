import FoundationEssentials
import LarderModel

/// A type whose values a predicate may capture.
private protocol CapturedValue {
    /// The value of the store; nil if the store cannot hold this one.
    var stored: Value? { get }
}

extension Value {
    /// The store's value for a captured value.
    ///
    /// - Parameter entity: The entity of the predicate.
    /// - Throws: `unsupportedPredicate` if the store has no such value.
    init(
        captured: some Any, in entity: any QueryableEntity.Type
    ) throws(LarderError) {
        if let known = captured as? any CapturedValue {
            guard let value = known.stored else {
                throw unsupported(
                    "a captured \(type(of: captured)) that a store cannot hold")
            }
            self = value
        } else if let optional = captured as? any CapturedOptional {
            guard let wrapped = optional.wrapped else {
                self = .null
                return
            }
            try self.init(captured: wrapped, in: entity)
        } else if let object = captured as? any QueryableEntity {
            self = .object(object.persistentModelID)
        } else if let raw = captured as? any RawRepresentable {
            try self.init(captured: raw.rawValue, in: entity)
        } else if let value = entity.storedValue(of: captured) {
            self = value
        } else {
            throw unsupported("a captured \(type(of: captured))")
        }
    }
}

private protocol CapturedOptional {
    var wrapped: Any? { get }
}

extension Optional: CapturedOptional {
    fileprivate var wrapped: Any? { self.map { $0 as Any } }
}

extension CapturedValue where Self: BinaryInteger {
    fileprivate var stored: Value? { Int64(exactly: self).map(Value.int) }
}

extension Int: CapturedValue {}
extension Int8: CapturedValue {}
extension Int16: CapturedValue {}
extension Int32: CapturedValue {}
extension Int64: CapturedValue {}
extension UInt8: CapturedValue {}
extension UInt16: CapturedValue {}
extension UInt32: CapturedValue {}

/// Integers that may be above the greatest one of a store are decimals then, as attributes of such
/// types are stored.
extension UInt: CapturedValue {
    fileprivate var stored: Value? { UInt64(self).stored }
}
extension UInt64: CapturedValue {
    fileprivate var stored: Value? {
        Int64(exactly: self).map(Value.int) ?? .decimal(Decimal(self))
    }
}

extension Bool: CapturedValue {
    fileprivate var stored: Value? { .bool(self) }
}
extension Float: CapturedValue {
    fileprivate var stored: Value? { isNaN ? nil : .float(self) }
}
extension Double: CapturedValue {
    fileprivate var stored: Value? { isNaN ? nil : .double(self) }
}
extension Decimal: CapturedValue {
    fileprivate var stored: Value? { isNaN ? nil : .decimal(self) }
}
extension String: CapturedValue {
    fileprivate var stored: Value? { .string(self) }
}
extension Substring: CapturedValue {
    fileprivate var stored: Value? { .string(String(self)) }
}
extension Character: CapturedValue {
    fileprivate var stored: Value? { .string(String(self)) }
}
extension Date: CapturedValue {
    fileprivate var stored: Value? { .date(self) }
}
extension UUID: CapturedValue {
    fileprivate var stored: Value? { .uuid(self) }
}
extension URL: CapturedValue {
    fileprivate var stored: Value? { .url(self) }
}
extension Data: CapturedValue {
    fileprivate var stored: Value? { .data(self) }
}
extension PersistentIdentifier: CapturedValue {
    fileprivate var stored: Value? { .object(self) }
}
