/// A property of an entity: an attribute, a relationship, or a list of constraints.
public protocol SchemaProperty: Codable, Hashable {
    var name: String { get set }
    var originalName: String { get set }
    var valueType: any Any.Type { get set }
    var isAttribute: Bool { get }
    var isRelationship: Bool { get }
    var isTransient: Bool { get }
    var isOptional: Bool { get }
    var isUnique: Bool { get }
}

extension Schema {
    /// A property of a model as its class describes it.
    public struct PropertyMetadata {
        let name: String
        let keypath: AnyKeyPath
        let defaultValue: Any?
        let metadata: (any SchemaProperty)?

        public init(
            name: String, keypath: AnyKeyPath, defaultValue: Any? = nil,
            metadata: (any SchemaProperty)? = nil
        ) {
            self.name = name
            self.keypath = keypath
            self.defaultValue = defaultValue
            self.metadata = metadata
        }
    }
}

/// An optional type at run time.
protocol OptionalType {
    static var wrappedType: any Any.Type { get }
    /// The value without the optional; nil for nil.
    var wrappedValue: Any? { get }
}

extension Optional: OptionalType {
    static var wrappedType: any Any.Type { Wrapped.self }
    var wrappedValue: Any? { self }
}

/// A type of a property: whether it is optional, and the type without the optional.
struct ValueType {
    let isOptional: Bool
    let wrapped: any Any.Type

    init(_ type: any Any.Type) {
        if let optional = type as? any OptionalType.Type {
            isOptional = true
            wrapped = optional.wrappedType
        } else {
            isOptional = false
            wrapped = type
        }
    }
}
