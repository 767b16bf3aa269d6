internal import Foundation
internal import Synchronization

/// The name under which a ``ValueTransformer`` is registered.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// The transformer of objects that are archived with `NSSecureCoding`.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
        "NSSecureUnarchiveFromData")
}

/// Converts the values of an attribute to data and back. Foundation has this class on other
/// systems.
open class ValueTransformer {
    /// The registered transformer that this one stands for.
    private let target: ValueTransformer?

    public required init() { target = nil }

    /// A transformer that calls the registered one; nil if there is none.
    public init?(forName name: NSValueTransformerName) {
        guard let transformer = Self.transformer(forName: name) else { return nil }
        target = transformer
    }

    open class func transformedValueClass() -> AnyClass { NSData.self }

    open class func allowsReverseTransformation() -> Bool { true }

    /// The data for a value of the attribute.
    open func transformedValue(_ value: Any?) -> Any? {
        guard let target else { return value }
        return target.transformedValue(value)
    }

    /// The value of the attribute for data.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let target else { return transformedValue(value) }
        return target.reverseTransformedValue(value)
    }

    private static let registered = Mutex<[String: Registered]>([:])

    /// A transformer is used from several threads; Foundation requires the same of its subclasses.
    private struct Registered: @unchecked Sendable {
        let transformer: ValueTransformer
    }

    public class func setValueTransformer(
        _ transformer: ValueTransformer?, forName name: NSValueTransformerName
    ) {
        let entry = transformer.map { Registered(transformer: $0) }
        registered.withLock { $0[name.rawValue] = entry }
    }

    public class func valueTransformerNames() -> [NSValueTransformerName] {
        registered.withLock { $0.keys.sorted() }.map { NSValueTransformerName($0) }
    }

    /// The registered transformer with a name.
    static func transformer(forName name: NSValueTransformerName) -> ValueTransformer? {
        registered.withLock { $0[name.rawValue] }?.transformer
    }

    /// Registers a transformer of a type under the type's name, unless one is.
    static func registeredName(of type: ValueTransformer.Type) -> String {
        let name = String(describing: type)
        if transformer(forName: NSValueTransformerName(name)) == nil {
            setValueTransformer(type.init(), forName: NSValueTransformerName(name))
        }
        return name
    }
}

/// Archives objects with `NSSecureCoding`. The directions are the opposite ones of other
/// transformers: data becomes an object.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    open class var allowedTopLevelClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self,
            NSData.self, NSURL.self, NSUUID.self, NSNull.self,
        ]
    }

    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        return try? NSKeyedUnarchiver.unarchivedObject(
            ofClasses: Self.allowedTopLevelClasses, from: data)
    }

    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value else { return nil }
        return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    }
}
