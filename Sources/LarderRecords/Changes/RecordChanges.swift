public import FoundationEssentials

/// Changes to records that are saved in one transaction: all of them or none.
///
///     let saved = try store.save { changes in
///         let ann = try changes.insert(Author(name: "Ann"))
///         try changes.insert(Book(title: "Larder", author: ann))
///         try changes.update(\.pages, of: other, to: 300)
///     }
///     let ann = saved[ann]
public struct RecordChanges: Sendable {
    /// The changes so far. Conditions, policies and the idempotency key are set here.
    public var changeSet = ChangeSet()
    private var insertionCount = 0

    public init() {}

    /// Inserts a record.
    ///
    /// - Returns: a temporary reference, which other changes of the set may use and
    ///   ``SavedRecords`` resolves.
    /// - Throws: `malformedValue` for a member that cannot be encoded as JSON.
    @discardableResult
    public mutating func insert<Record: EntityRecord>(
        _ record: Record
    ) throws(LarderError) -> Ref<Record> {
        let values = try record.insertionValues()
        insertionCount += 1
        let identifier = PersistentIdentifier(
            temporary: "\(insertionCount)", entityName: Record.entityName)
        changeSet.changes.append(.insert(identifier, values: values))
        return Ref(identifier)
    }

    /// Sets one property of an object.
    ///
    /// - Parameter ifVersion: The version that the object must have; nil is any.
    /// - Throws: `unsupportedPredicate` for a key path that is not a stored property,
    ///   `malformedValue`.
    public mutating func update<Record: EntityRecord, Member: Sendable>(
        _ member: KeyPath<Record, Member>, of object: Ref<Record>, to value: Member,
        ifVersion: Int64? = nil
    ) throws(LarderError) {
        let (name, value) = try Record.assignment(member, value)
        changeSet.changes.append(
            .update(object.id, ifVersion: ifVersion, values: [name: value]))
    }

    /// Sets all properties of an object to those of a record that was read or inserted.
    ///
    /// - Throws: `objectNotFound` if its `id` is nil, `malformedValue`.
    public mutating func update<Record: EntityRecord>(
        _ record: Record, ifVersion: Int64? = nil
    ) throws(LarderError) {
        changeSet.changes.append(
            .update(
                try record.requiredID(), ifVersion: ifVersion, values: try record.values()))
    }

    /// Sets the properties in which a record differs from the one that was read.
    ///
    /// - Throws: `objectNotFound` if the record's `id` is nil, `malformedValue`.
    public mutating func update<Record: EntityRecord>(
        _ record: Record, from read: Record
    ) throws(LarderError) {
        let difference = try record.difference(from: read)
        changeSet.changes.append(
            .update(
                try record.requiredID(), ifVersion: nil, values: difference.values,
                base: difference.base))
    }

    /// Deletes an object and applies its delete rules.
    public mutating func delete<Record: EntityRecord>(
        _ object: Ref<Record>, ifVersion: Int64? = nil
    ) {
        changeSet.changes.append(.delete(object.id, ifVersion: ifVersion))
    }

    /// Deletes the object of a record and applies its delete rules.
    ///
    /// - Throws: `objectNotFound` if its `id` is nil.
    public mutating func delete<Record: EntityRecord>(_ record: Record) throws(LarderError) {
        delete(try Ref(record))
    }

    /// Adds the condition that no record satisfies the predicate when the changes are saved.
    ///
    /// - Throws: `unsupportedPredicate`.
    public mutating func unless<Record: EntityRecord>(
        _ type: Record.Type, where predicate: Predicate<Record.Fields>
    ) throws(LarderError) {
        try changeSet.unless(where: predicate)
    }
}

/// The result of saving ``RecordChanges``.
public struct SavedRecords: Sendable {
    public let result: SaveResult
    private let identifiers: [PersistentIdentifier: PersistentIdentifier]

    init(_ changes: [Change], _ result: SaveResult) {
        self.result = result
        let temporary = changes.compactMap { change in
            if case .insert(let identifier, _, _) = change { identifier } else { nil }
        }
        identifiers = Dictionary(
            zip(temporary, result.inserted), uniquingKeysWith: { first, _ in first })
    }

    /// The permanent reference for one that `insert` returned; any other is returned as it is.
    public subscript<Record: EntityRecord>(_ reference: Ref<Record>) -> Ref<Record> {
        identifiers[reference.id].map { Ref($0) } ?? reference
    }
}

extension EntityRecord {
    /// The name of a member's property, and its value for the store.
    ///
    /// - Throws: `unsupportedPredicate` if the member is not a stored property.
    static func assignment<Member: Sendable>(
        _ member: KeyPath<Self, Member>, _ value: Member
    ) throws(LarderError) -> (name: String, value: Value) {
        guard let property = property(of: member),
            let stored = try property.encode(value)
        else { throw notStored(member) }
        return (property.name, stored)
    }

    static func notStored(_ member: AnyKeyPath) -> LarderError {
        LarderError(
            .unsupportedPredicate,
            "the key path \(member.debugDescription) is not a stored property of \(entityName)")
    }

    /// The values in which this record differs from another one, and those of the other one.
    func difference(
        from read: Self
    ) throws(LarderError) -> (values: [String: Value], base: [String: Value]) {
        let base = try read.values()
        let values = try self.values().filter { base[$0.key] != $0.value }
        return (values, base.filter { values[$0.key] != nil })
    }
}
