public import Foundation

/// A type that an optional property with `@NSManaged` may have.
public protocol ManagedValue {
    /// The value of this type; nil if the property has another one.
    static func converted(from value: Any) -> Self?
}

/// A type that a property with `@NSManaged` may have also if it is not an optional.
public protocol RequiredManagedValue: ManagedValue {
    /// The value of a property that has none, or one of another type.
    static var absent: Self { get }
}

extension ManagedValue {
    public static func converted(from value: Any) -> Self? { value as? Self }
}

extension RequiredManagedValue where Self: ExpressibleByIntegerLiteral {
    public static var absent: Self { 0 }
}

extension Int: RequiredManagedValue {}
extension Int16: RequiredManagedValue {}
extension Int32: RequiredManagedValue {}
extension Int64: RequiredManagedValue {}
extension Float: RequiredManagedValue {}
extension Double: RequiredManagedValue {}
extension Decimal: RequiredManagedValue {}
extension URL: ManagedValue {}

extension Bool: RequiredManagedValue {
    public static var absent: Bool { false }
}

extension String: RequiredManagedValue {
    public static var absent: String { "" }
}

extension Date: RequiredManagedValue {
    public static var absent: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension Data: RequiredManagedValue {
    public static var absent: Data { Data() }
}

extension UUID: RequiredManagedValue {
    public static var absent: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}

extension Array: RequiredManagedValue, ManagedValue {
    public static var absent: [Element] { [] }
}

extension Dictionary: RequiredManagedValue, ManagedValue {
    public static var absent: [Key: Value] { [:] }
}

extension Set: RequiredManagedValue, ManagedValue where Element: NSManagedObject {
    public static func converted(from value: Any) -> Set<Element>? {
        (value as? NSSet).map { Set($0.compactMap { $0 as? Element }) }
    }

    public static var absent: Set<Element> { [] }
}

/// Managed objects, `NSSet`, `NSOrderedSet`, `NSNumber` and `NSDecimalNumber`.
extension NSObject: ManagedValue {
    public static func converted(from value: Any) -> Self? { value as? Self }
}

extension NSManagedObject: RequiredManagedValue {
    /// An object that is in no context.
    public static var absent: Self { self.init(entity: entity(), insertInto: nil) }
}
