public import LarderModel

/// Objects as values of `Codable` types, whose coding keys are the names of properties; see
/// `NamedValues.decoded(as:)`. The product LarderRecords does more: the compiler knows the
/// properties.
extension StoreClient {
    /// The objects that satisfy a predicate, as values of a `Decodable` type. Its keys are
    /// attributes and to-one relationships.
    ///
    /// - Throws: as `fetch` does, and as `NamedValues.decoded(as:)` does.
    public func fetch<Wanted: Decodable>(
        _ type: Wanted.Type, from entityName: String, where format: String? = nil,
        arguments: [QueryArgument] = [], variables: [String: QueryArgument] = [:],
        sort: [SortKey] = [], limit: Int64? = nil, offset: Int64? = nil,
        includesSubentities: Bool = true
    ) throws(LarderError) -> [Wanted] {
        let records = try fetch(
            entityName, where: format, arguments: arguments, variables: variables, sort: sort,
            limit: limit, offset: offset, includesSubentities: includesSubentities)
        return try records.map { (record) throws(LarderError) in try record.decoded() }
    }

    /// The asynchronous form of `fetch(_:from:where:)`.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func fetch<Wanted: Decodable>(
        _ type: Wanted.Type, from entityName: String, where format: String? = nil,
        arguments: [QueryArgument] = [], variables: [String: QueryArgument] = [:],
        sort: [SortKey] = [], limit: Int64? = nil, offset: Int64? = nil,
        includesSubentities: Bool = true
    ) async throws(LarderError) -> [Wanted] {
        let records = try await fetch(
            entityName, where: format, arguments: arguments, variables: variables, sort: sort,
            limit: limit, offset: offset, includesSubentities: includesSubentities)
        return try records.map { (record) throws(LarderError) in try record.decoded() }
    }

    /// Inserts an object with the values of an `Encodable` type.
    ///
    /// - Throws: as `insert` does; `malformedValue` if the value cannot be encoded.
    public func insert(
        _ entityName: String, encoding value: some Encodable,
        onUniqueConflict policy: UniqueConflictPolicy = .error, idempotencyKey: String = ""
    ) throws(LarderError) -> PersistentIdentifier {
        try insert(
            entityName, [String: Value](encoding: value), onUniqueConflict: policy,
            idempotencyKey: idempotencyKey)
    }

    /// The asynchronous form of `insert(_:encoding:)`.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled;
    ///   `indeterminate` if it was sent by then.
    public func insert(
        _ entityName: String, encoding value: some Encodable,
        onUniqueConflict policy: UniqueConflictPolicy = .error, idempotencyKey: String = ""
    ) async throws(LarderError) -> PersistentIdentifier {
        try await insert(
            entityName, [String: Value](encoding: value), onUniqueConflict: policy,
            idempotencyKey: idempotencyKey)
    }

    /// Sets the properties of an object to the values of an `Encodable` type.
    ///
    /// - Returns: the object's new version.
    /// - Throws: as `update` does; `malformedValue` if the value cannot be encoded.
    public func update(
        _ identifier: PersistentIdentifier, encoding value: some Encodable,
        ifVersion: Int64? = nil, idempotencyKey: String = ""
    ) throws(LarderError) -> Int64 {
        try update(
            identifier, [String: Value](encoding: value), ifVersion: ifVersion,
            idempotencyKey: idempotencyKey)
    }

    /// The asynchronous form of `update(_:encoding:)`.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled;
    ///   `indeterminate` if it was sent by then.
    public func update(
        _ identifier: PersistentIdentifier, encoding value: some Encodable,
        ifVersion: Int64? = nil, idempotencyKey: String = ""
    ) async throws(LarderError) -> Int64 {
        try await update(
            identifier, [String: Value](encoding: value), ifVersion: ifVersion,
            idempotencyKey: idempotencyKey)
    }
}
