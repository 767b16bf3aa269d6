/// A Swift value type whose values are objects of an entity. The macro
/// ``Entity(_:parent:originalName:hashModifier:)`` writes the conformance.
///
/// A value is a copy of what was read. Changing it changes nothing in the store until it is saved.
/// The type may leave out attributes of the entity; these are neither read nor written.
public protocol EntityRecord: Sendable {
    /// The properties as predicates and sort keys see them.
    associatedtype Fields: RecordFields where Fields.Record == Self

    /// The name of the entity in the schema.
    static var entityName: String { get }
    /// The stored properties, in the order in which ``init(row:)`` reads them.
    static var recordProperties: [RecordProperty] { get }
    /// The members of the entity in the schema, apart from its properties.
    static var entityOptions: EntityOptions { get }

    /// The object; nil for a value that has not been inserted.
    var id: PersistentIdentifier? { get set }

    /// The value of a row whose columns are ``recordProperties``.
    ///
    /// - Throws: `wrongType` or `missingValue` if the store has another type there.
    init(row: RecordRow) throws(LarderError)

    /// Adds the values of the properties by name.
    ///
    /// - Throws: `malformedValue` for a member that cannot be encoded as JSON.
    func write(to values: inout [String: Value]) throws(LarderError)
}

extension EntityRecord {
    /// The values of all properties by name, as a change set has them.
    ///
    /// - Throws: `malformedValue` for a member that cannot be encoded as JSON.
    public func values() throws(LarderError) -> [String: Value] {
        var values = [String: Value](minimumCapacity: Self.recordProperties.count)
        try write(to: &values)
        return values
    }

    /// The values of a new object. An empty list is left out: an insert that updates an existing
    /// object keeps its list.
    func insertionValues() throws(LarderError) -> [String: Value] {
        try values().filter { $0.value != .objects([]) }
    }

    /// The property with a key path from the record or from the fields.
    static func property(of keyPath: AnyKeyPath) -> RecordProperty? {
        recordProperties.first { property in
            let (member, field): (AnyKeyPath, AnyKeyPath) = (property.member, property.field)
            return member == keyPath || field == keyPath
        }
    }

    /// The identifier of a value that was read or inserted.
    ///
    /// - Throws: `objectNotFound` if it is nil.
    func requiredID() throws(LarderError) -> PersistentIdentifier {
        if let id { return id }
        throw LarderError(
            .objectNotFound, "a value of \(Self.entityName) without `id` is not an object",
            hint: "insert it first, and use the value that `insert` returns")
    }
}

/// The properties of an entity in predicates, expressions and key paths: `$0.author.name`.
///
/// A relationship is the related entity's fields here, and a ``Ref`` in the record. There are no
/// instances; the store evaluates what is written with them.
public protocol RecordFields: AnyObject, QueryableEntity {
    associatedtype Record: EntityRecord

    /// The object itself.
    var id: PersistentIdentifier { get }
    /// The key path of ``id``. (That of the protocol's requirement is a different one.)
    static var identifier: any AnyKeyPath & Sendable { get }
}

extension RecordFields {
    public static var entityName: String { Record.entityName }
    public var persistentModelID: PersistentIdentifier { id }

    static func isIdentifier(_ keyPath: AnyKeyPath) -> Bool {
        let identifier: AnyKeyPath = identifier
        return keyPath == identifier || keyPath == \Self.persistentModelID
    }

    public static func property(at keyPath: AnyKeyPath) -> EntityProperty? {
        if isIdentifier(keyPath) { return .identifier }
        return Record.property(of: keyPath).map { .named($0.name) }
    }
}
