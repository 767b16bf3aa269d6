/// Makes a struct a type of records: its stored properties are the properties of an entity.
///
///     @Entity struct Book {
///         var id: PersistentIdentifier?
///         @Attribute(.unique) var title: String
///         var pages: Int = 0
///         var price: Decimal?
///         var author: Ref<Author>
///     }
///
/// The struct has `var id: PersistentIdentifier?`, which is nil until the value is inserted. Other
/// properties have an attribute type (or an optional of one), an enum with raw values, any other
/// `Codable` type (stored as JSON), or are relationships: `Ref<Author>`, `Ref<Author>?` and
/// `[Ref<Tag>]`. A default that is a literal is the default in the schema, too.
///
/// - Parameters:
///   - name: The name of the entity; by default that of the struct.
///   - parent: The record type of the parent entity. The struct repeats the inherited properties
///     that it reads.
///   - originalName: The name in an earlier version of the schema.
///   - hashModifier: A text that changes the schema's fingerprint.
@attached(
    member, names: named(Fields), named(StoredProperties), named(entityName),
    named(recordProperties), named(entityOptions), named(write))
@attached(extension, conformances: EntityRecord, names: named(init))
public macro Entity(
    _ name: String? = nil, parent: (any EntityRecord.Type)? = nil, originalName: String? = nil,
    hashModifier: String? = nil
) = #externalMacro(module: "LarderRecordMacros", type: "EntityMacro")

/// Sets options of an attribute; `docs/schema.md` describes them.
///
///     @Attribute(.unique, .maxLength(200)) var title: String
///     @Attribute(.derived("books.@count")) var bookCount: Int = 0
@attached(peer)
public macro Attribute(
    _ options: AttributeOption..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "LarderRecordMacros", type: "PropertyMacro")

/// Sets options of a relationship; `docs/schema.md` describes them.
///
///     @Relationship(.ordered, deleteRule: .cascade, inverse: \Book.author) var books: [Ref<Book>]
///
/// - Parameter inverse: The relationship in the opposite direction, as a key path from its record.
///   It is named on one side only. Two relationships that are the only ones between their entities
///   are inverses without it.
@attached(peer)
public macro Relationship(
    _ options: RelationshipOption..., deleteRule: Relationship.DeleteRule = .nullify,
    minCount: Int = 0, maxCount: Int = 0, inverse: (any AnyKeyPath & Sendable)? = nil,
    originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "LarderRecordMacros", type: "PropertyMacro")

/// Marks a property that the store does not have. It needs a default value.
@attached(peer)
public macro Transient() = #externalMacro(module: "LarderRecordMacros", type: "PropertyMacro")

/// Requires that no two objects have the same values of all these properties.
///
///     #Unique<Book>([\.title, \.author])
@freestanding(declaration)
public macro Unique<Record>(_ constraints: [PartialKeyPath<Record>]...) =
    #externalMacro(module: "LarderRecordMacros", type: "ConstraintMacro")

/// Keeps an index of these properties, in this order.
///
///     #Index<Book>([\.published, \.title])
@freestanding(declaration)
public macro Index<Record>(_ indexes: [PartialKeyPath<Record>]...) =
    #externalMacro(module: "LarderRecordMacros", type: "ConstraintMacro")

/// Keeps one index of the words of these texts, for `SEARCH` over all of them.
///
///     #Search<Book>([\.title, \.summary])
@freestanding(declaration)
public macro Search<Record>(_ indexes: [PartialKeyPath<Record>]...) =
    #externalMacro(module: "LarderRecordMacros", type: "ConstraintMacro")
