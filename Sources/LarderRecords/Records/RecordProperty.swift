/// A stored property of a record type.
public struct RecordProperty: Sendable {
    /// The name in the schema.
    let name: String
    /// The key path from the record: `\Book.title`.
    let member: any AnyKeyPath & Sendable
    /// The key path from the fields: `\Book.Fields.author`.
    let field: any AnyKeyPath & Sendable
    /// The key path after an optional to-one relationship.
    let chainedField: any AnyKeyPath & Sendable
    let kind: PropertyKind
    let options: PropertyOptions
    /// The default in the schema; nil for none.
    let defaultValue: Value?
    /// The value of a member of the property's type; nil for any other.
    let encode: @Sendable (any Sendable) throws(LarderError) -> Value?

    public init<Record: EntityRecord, Member: Sendable>(
        _ property: StoredProperty<Record, Member>
    ) {
        let coding = property.coding
        name = property.name
        member = property.member
        field = property.field
        chainedField = property.chainedField
        kind = coding.kind
        options = property.options
        // The store computes a derived attribute; the default is that of the struct alone.
        defaultValue =
            options.isDerived ? nil : property.defaultValue.flatMap { try? coding.encode($0) }
        encode = { value throws(LarderError) in
            guard let member = value as? Member else { return nil }
            return try coding.encode(member)
        }
    }
}

/// A stored property of a record type with the type of its values.
public struct StoredProperty<Record: EntityRecord, Member: Sendable>: Sendable {
    let name: String
    let member: any KeyPath<Record, Member> & Sendable
    let field: any AnyKeyPath & Sendable
    let chainedField: any AnyKeyPath & Sendable
    let coding: MemberCoding<Member>
    let options: PropertyOptions
    let defaultValue: Member?

    public init(
        _ name: String, _ member: any KeyPath<Record, Member> & Sendable,
        field: any AnyKeyPath & Sendable, chainedField: any AnyKeyPath & Sendable,
        _ coding: MemberCoding<Member>, _ options: PropertyOptions = PropertyOptions(),
        default defaultValue: Member? = nil
    ) {
        self.name = name
        self.member = member
        self.field = field
        self.chainedField = chainedField
        self.coding = coding
        self.options = options
        self.defaultValue = defaultValue
    }

    /// Reads the property.
    ///
    /// - Parameter index: The index of the property in ``EntityRecord/recordProperties``.
    /// - Throws: `unknownProperty`, `missingValue`, `wrongType`.
    public func read(_ row: RecordRow, _ index: Int) throws(LarderError) -> Member {
        guard let value = row.value(of: name, at: index) else {
            throw LarderError(
                .unknownProperty, "the row does not have \(Record.entityName).\(name)",
                hint: "fetch the object with all properties of the type")
        }
        if let member = coding.decode(value) { return member }
        throw value.isNull
            ? LarderError(
                .missingValue,
                "\(Record.entityName).\(name) is nil, but its Swift type is not optional")
            : LarderError(
                .wrongType,
                "\(Record.entityName).\(name) is \(value.kindWithArticle) that is not a "
                    + "\(Member.self)"
            )
    }

    /// Adds the value of the property.
    public func write(
        _ member: Member, to values: inout [String: Value]
    ) throws(LarderError) {
        guard !options.isDerived else { return }
        values[name] = try coding.encode(member)
    }
}
