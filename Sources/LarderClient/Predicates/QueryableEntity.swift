public import LarderModel

/// A Swift type whose values stand for the objects of an entity, so that `#Predicate` and
/// `#Expression` over it can be asked of a store.
///
/// The declaration says which property of the entity each key path is. One that is not declared
/// cannot be asked for.
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
/// A to-one relationship is a property of another such type or an optional of one, a to-many
/// relationship an array or a set of one.
public protocol QueryableEntity {
    static var entityName: String { get }

    /// The property that a key path of one step leads to; nil if the entity has none for it.
    ///
    /// The type of a sub-entity answers for what it inherits too, by key paths that begin with it:
    /// to Swift `\Student.name` and `\Person.name` are different.
    static func property(at keyPath: AnyKeyPath) -> EntityProperty?

    /// The object that this value stands for.
    var persistentModelID: PersistentIdentifier { get }
}

/// What a key path leads to.
public enum EntityProperty: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The object itself.
    case identifier
    /// An attribute or a relationship, by its name in the schema.
    case named(String)

    public init(stringLiteral name: String) { self = .named(name) }
}

/// The types that a to-many relationship is declared with.
protocol EntityCollection {}
extension Array: EntityCollection where Element: QueryableEntity {}
extension Set: EntityCollection where Element: QueryableEntity {}
extension Optional: EntityCollection where Wrapped: EntityCollection {}
