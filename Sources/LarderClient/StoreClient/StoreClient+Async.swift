public import LarderModel

/// The asynchronous form of every call. It means the same as the blocking form of the same name and
/// throws the same errors. If the task is cancelled, it throws `cancelled`, or `indeterminate` for
/// a write that was sent by then.
extension StoreClient {
    /// Connects to the socket at this path and performs the handshake, in a thread of its own.
    ///
    /// - Throws: as the blocking form does. A cancellation of the task has no effect.
    public static func connect(
        to path: String, options: Options = Options()
    ) async throws(LarderError) -> StoreClient {
        try await BackgroundThread.run { () -> Result<StoreClient, LarderError> in
            do throws(LarderError) {
                return .success(
                    StoreClient(session: try Session(Connector(path: path), options: options)))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Inserts an object and returns its identifier.
    ///
    /// - Throws: `uniquenessViolated`, `validationFailed` and the other errors of the blocking
    ///   form.
    public func insert(
        _ entityName: String, _ values: [String: Value],
        onUniqueConflict policy: UniqueConflictPolicy = .error, idempotencyKey: String = ""
    ) async throws(LarderError) -> PersistentIdentifier {
        try await session.save(
            Operation.insert(entityName, values, policy).keyed(idempotencyKey))
    }

    /// Changes properties of an object and returns its new version.
    ///
    /// - Throws: `versionConflict`, `objectNotFound` and the other errors of the blocking form.
    public func update(
        _ identifier: PersistentIdentifier, _ values: [String: Value] = [:],
        edits: [RelationshipEdit] = [], ifVersion: Int64? = nil, base: [String: Value] = [:],
        mergePolicy: MergePolicy = .error, idempotencyKey: String = ""
    ) async throws(LarderError) -> Int64 {
        try await session.save(
            Operation.update(
                identifier, values, edits, ifVersion: ifVersion, base: base, mergePolicy
            ).keyed(idempotencyKey))
    }

    /// Inserts an object with the values of variables: `["title": title]`. Throws as the other form
    /// does.
    @_disfavoredOverload
    public func insert(
        _ entityName: String, _ values: [String: any ValueConvertible],
        onUniqueConflict policy: UniqueConflictPolicy = .error, idempotencyKey: String = ""
    ) async throws(LarderError) -> PersistentIdentifier {
        try await insert(
            entityName, values.mapValues(\.storeValue), onUniqueConflict: policy,
            idempotencyKey: idempotencyKey)
    }

    /// Changes properties of an object to the values of variables. Throws as the other form does.
    @_disfavoredOverload
    public func update(
        _ identifier: PersistentIdentifier, _ values: [String: any ValueConvertible],
        ifVersion: Int64? = nil, idempotencyKey: String = ""
    ) async throws(LarderError) -> Int64 {
        try await update(
            identifier, values.mapValues(\.storeValue), ifVersion: ifVersion,
            idempotencyKey: idempotencyKey)
    }

    /// Deletes an object, and applies its delete rules to related objects.
    ///
    /// - Throws: `deleteDenied`, `versionConflict`, `objectNotFound`, `foreignIdentifier`.
    public func delete(
        _ identifier: PersistentIdentifier, ifVersion: Int64? = nil, idempotencyKey: String = ""
    ) async throws(LarderError) {
        try await session.perform(
            Operation.delete(identifier, ifVersion: ifVersion).keyed(idempotencyKey))
    }

    /// Sets properties of all objects that satisfy the predicate, in one transaction.
    ///
    /// - Throws: errors of the predicate, and of single objects, as the blocking form does.
    @discardableResult
    public func updateAll(
        _ entityName: String, _ values: [String: Value] = [:],
        expressions: KeyValuePairs<String, String> = [:], where format: String?,
        arguments: [QueryArgument] = [], variables: [String: QueryArgument] = [:],
        sort: [SortKey] = [], limit: Int64? = nil, wantsIdentifiers: Bool = false,
        includesSubentities: Bool = true,
        idempotencyKey: String = ""
    ) async throws(LarderError) -> AffectedObjects {
        let selection = ObjectSelection(
            entityName, where: format.map { .format($0) }, sort: sort,
            limit: limit, arguments: arguments, variables: variables,
            wantsIdentifiers: wantsIdentifiers,
            includesSubentities: includesSubentities)
        return try await session.perform(
            Operation.updateAll(selection, values, expressions).keyed(idempotencyKey))
    }

    /// Deletes all objects that satisfy the predicate, in one transaction.
    ///
    /// - Throws: errors of the predicate; `deleteDenied`.
    @discardableResult
    public func deleteAll(
        _ entityName: String, where format: String?, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:],
        sort: [SortKey] = [], limit: Int64? = nil, wantsIdentifiers: Bool = false,
        includesSubentities: Bool = true, idempotencyKey: String = ""
    ) async throws(LarderError) -> AffectedObjects {
        let selection = ObjectSelection(
            entityName, where: format.map { .format($0) }, sort: sort,
            limit: limit, arguments: arguments, variables: variables,
            wantsIdentifiers: wantsIdentifiers,
            includesSubentities: includesSubentities)
        return try await session.perform(Operation.deleteAll(selection).keyed(idempotencyKey))
    }

    /// Executes a change set in one transaction: all changes or none.
    ///
    /// - Throws: the first error; `LarderError.details` has all of them.
    public func save(
        _ changes: ChangeSet, idempotencyKey: String = ""
    ) async throws(LarderError) -> SaveResult {
        try await session.save(Operation.save(changes).keyed(idempotencyKey))
    }

    /// The object with all its properties; nil if it is deleted.
    ///
    /// - Throws: `foreignIdentifier`, `unknownEntity`.
    public func object(for identifier: PersistentIdentifier) async throws(LarderError) -> Record? {
        try await session.perform(.object(identifier))
    }

    /// The objects that exist, in the order of the identifiers.
    ///
    /// - Throws: `foreignIdentifier`, `unknownEntity`, `unknownProperty`.
    public func objects(
        for identifiers: [PersistentIdentifier], properties: [String]? = nil
    ) async throws(LarderError) -> [Record] {
        try await session.perform(.objects(identifiers, properties: properties))
    }

    /// The objects that satisfy a predicate, with all attributes and to-one relationships.
    ///
    /// - Throws: `malformedPredicate` and the other errors of the blocking form.
    public func fetch(
        _ entityName: String, where format: String? = nil, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:], sort: [SortKey] = [], limit: Int64? = nil,
        offset: Int64? = nil, includesSubentities: Bool = true
    ) async throws(LarderError) -> [Record] {
        try await session.collect(
            .fetch(
                entityName, where: format, arguments: arguments, variables: variables, sort: sort,
                limit: limit, offset: offset, includesSubentities: includesSubentities))
    }

    /// The objects of a fetch, and the objects that it prefetches.
    ///
    /// - Throws: as the other form of `fetch` does.
    public func fetch(
        _ fetch: Fetch, _ parameters: QueryParameters = QueryParameters()
    ) async throws(LarderError) -> FetchResult {
        FetchResult(try await session.collect(.objects(fetch, parameters)))
    }

    /// The number of objects that satisfy a predicate.
    ///
    /// - Throws: as `fetch` does.
    public func count(
        _ entityName: String, where format: String? = nil, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:], includesSubentities: Bool = true
    ) async throws(LarderError) -> Int64 {
        try await ListQuery.total(
            session.collect(
                .count(
                    entityName, where: format, arguments: arguments, variables: variables,
                    includesSubentities: includesSubentities)))
    }

    /// Values that the store computes over groups of objects, one row per group.
    ///
    /// - Throws: as `fetch` does.
    public func aggregate(
        _ entityName: String, where format: String? = nil, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:], groupBy: [QueryColumn] = [],
        _ columns: [Aggregate.Column], having: String? = nil, sort: [SortKey] = [],
        limit: Int64? = nil, includesSubentities: Bool = true
    ) async throws(LarderError) -> [Row] {
        try await session.collect(
            .aggregate(
                entityName, where: format, arguments: arguments, variables: variables,
                groupBy: groupBy, columns, having: having, sort: sort, limit: limit,
                includesSubentities: includesSubentities))
    }

    /// Runs a query whose result is read batch by batch, in bounded memory.
    ///
    /// - Throws: errors of the connection; the stream throws the errors of the query.
    public func stream(
        _ query: Query, _ parameters: QueryParameters = QueryParameters()
    ) async throws(LarderError) -> BatchStream {
        BatchStream(
            source: try await StreamSource.open(query, parameters, session), client: self)
    }

    /// The plan of a query, without running it.
    ///
    /// - Throws: as `fetch` does.
    public func explain(
        _ query: Query, _ parameters: QueryParameters = QueryParameters()
    ) async throws(LarderError) -> Explanation {
        try await session.perform(.explain(query, parameters))
    }

    /// Runs a query without sending its rows, and returns its plan with what the run took:
    /// `Explanation.execution`.
    ///
    /// - Throws: as `fetch` does.
    public func analyze(
        _ query: Query, _ parameters: QueryParameters = QueryParameters()
    ) async throws(LarderError) -> Explanation {
        try await session.perform(.analyze(query, parameters))
    }

    /// The store's schema, read once per server.
    ///
    /// - Throws: `malformedSchema` if the server's schema cannot be read.
    public func schema() async throws(LarderError) -> Schema {
        if let schema = session.cachedSchema { return schema }
        return try await session.perform(.schema(cachedBy: session))
    }

    /// The metrics of the server and the store, in the order to show them.
    ///
    /// - Throws: errors of the connection and the server only.
    public func statistics() async throws(LarderError) -> [Statistic] {
        try await session.perform(.statistics)
    }

    /// Verifies the integrity of the store, which takes long for a large one.
    ///
    /// - Throws: errors of the connection and the server only.
    public func check() async throws(LarderError) -> CheckReport {
        try await session.perform(.check)
    }

    /// Returns after a round trip through the server's reader and writer.
    ///
    /// - Throws: errors of the connection and the server only.
    public func ping() async throws(LarderError) {
        try await session.perform(.ping)
    }
}
