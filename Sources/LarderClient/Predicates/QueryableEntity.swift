public import LarderModel

/// A Swift type that represents an entity, so that a store can evaluate `#Predicate` and
/// `#Expression` over it.
///
/// The type maps its key paths to properties of the entity. A predicate with another key path
/// throws `unsupportedPredicate`.
///
///     extension Article: QueryableEntity {
///         static let entityName = "Article"
///
///         static func property(at keyPath: AnyKeyPath) -> EntityProperty? {
///             switch keyPath {
///             case \Article.persistentModelID: .identifier
///             case \Article.title: "title"
///             case \Article.category: "category"
///             default: nil
///             }
///         }
///     }
///
/// The type of a to-one relationship is another such type or an optional of one. The type of a
/// to-many relationship is an array or a set of one.
public protocol QueryableEntity {
    /// The name of the entity in the schema.
    static var entityName: String { get }

    /// The property for a key path of one step; nil if the entity has none.
    ///
    /// The type of a subentity also returns its inherited properties, for key paths that begin with
    /// that type: `\Student.name` and `\Person.name` are different key paths.
    static func property(at keyPath: AnyKeyPath) -> EntityProperty?

    /// The names of the members along a key path into a structure that an attribute stores as a
    /// JSON document; nil if the key path has none. By default there are none.
    static func members(at keyPath: AnyKeyPath) -> [String]?

    /// The value of the store for a captured value of a type that only the entity knows, such as a
    /// structure that is stored as a JSON document; nil, the default, if there is none.
    static func storedValue(of captured: Any) -> Value?

    /// The identifier of the object that this value represents.
    var persistentModelID: PersistentIdentifier { get }
}

extension QueryableEntity {
    public static func members(at keyPath: AnyKeyPath) -> [String]? { nil }
    public static func storedValue(of captured: Any) -> Value? { nil }
}

/// A property of an entity, as the value of a key path.
public enum EntityProperty: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The object itself.
    case identifier
    /// An attribute or a relationship, by its name in the schema.
    case named(String)

    public init(stringLiteral name: String) { self = .named(name) }
}

/// The types of to-many relationships.
protocol EntityCollection {}
extension Array: EntityCollection where Element: QueryableEntity {}
extension Set: EntityCollection where Element: QueryableEntity {}
extension Optional: EntityCollection where Wrapped: EntityCollection {}
