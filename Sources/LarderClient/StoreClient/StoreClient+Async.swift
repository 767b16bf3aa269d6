public import LarderModel

/// The asynchronous form of every call. It means the same as the blocking one of the same name;
/// cancelling the task ends the call with `cancelled`, or with `indeterminate` for a write that had
/// been sent.
extension StoreClient {
    /// Connects without blocking the calling task's thread.
    public static func connect(
        to path: String, options: Options = Options()
    ) async throws(LarderError) -> StoreClient {
        try await ServiceThread.run { () -> Result<StoreClient, LarderError> in
            do throws(LarderError) {
                return .success(StoreClient(session: try Session(path: path, options: options)))
            } catch {
                return .failure(error)
            }
        }
    }

    public func insert(
        _ entityName: String, _ values: [String: Value],
        onUniqueConflict policy: UniqueConflictPolicy = .error, idempotencyKey: String = ""
    ) async throws(LarderError) -> PersistentIdentifier {
        try await session.perform(
            Operation.insert(entityName, values, policy).keyed(idempotencyKey))
    }

    public func update(
        _ identifier: PersistentIdentifier, _ values: [String: Value] = [:],
        edits: [RelationshipEdit] = [], ifVersion: Int64? = nil, base: [String: Value] = [:],
        mergePolicy: MergePolicy = .error, idempotencyKey: String = ""
    ) async throws(LarderError) -> Int64 {
        try await session.perform(
            Operation.update(
                identifier, values, edits, ifVersion: ifVersion, base: base, mergePolicy
            ).keyed(idempotencyKey))
    }

    public func delete(
        _ identifier: PersistentIdentifier, ifVersion: Int64? = nil, idempotencyKey: String = ""
    ) async throws(LarderError) {
        try await session.perform(
            Operation.delete(identifier, ifVersion: ifVersion).keyed(idempotencyKey))
    }

    @discardableResult
    public func updateAll(
        _ entityName: String, _ values: [String: Value] = [:],
        expressions: KeyValuePairs<String, String> = [:], where format: String?,
        arguments: [QueryArgument] = [], variables: [String: QueryArgument] = [:],
        wantsIdentifiers: Bool = false, includesSubentities: Bool = true,
        idempotencyKey: String = ""
    ) async throws(LarderError) -> AffectedObjects {
        let selection = ObjectSelection(
            entityName, where: format.map { .format($0) }, arguments: arguments,
            variables: variables, wantsIdentifiers: wantsIdentifiers,
            includesSubentities: includesSubentities)
        return try await session.perform(
            Operation.updateAll(selection, values, expressions).keyed(idempotencyKey))
    }

    @discardableResult
    public func deleteAll(
        _ entityName: String, where format: String?, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:], wantsIdentifiers: Bool = false,
        includesSubentities: Bool = true, idempotencyKey: String = ""
    ) async throws(LarderError) -> AffectedObjects {
        let selection = ObjectSelection(
            entityName, where: format.map { .format($0) }, arguments: arguments,
            variables: variables, wantsIdentifiers: wantsIdentifiers,
            includesSubentities: includesSubentities)
        return try await session.perform(Operation.deleteAll(selection).keyed(idempotencyKey))
    }

    public func save(
        _ changes: ChangeSet, idempotencyKey: String = ""
    ) async throws(LarderError) -> SaveResult {
        try await session.perform(Operation.save(changes).keyed(idempotencyKey))
    }

    public func object(for identifier: PersistentIdentifier) async throws(LarderError) -> Record? {
        try await session.perform(.object(identifier))
    }

    public func objects(
        for identifiers: [PersistentIdentifier], properties: [String]? = nil
    ) async throws(LarderError) -> [Record] {
        try await session.perform(.objects(identifiers, properties: properties))
    }

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

    public func fetch(
        _ fetch: Fetch, _ parameters: QueryParameters = QueryParameters()
    ) async throws(LarderError) -> FetchResult {
        FetchResult(try await session.collect(.objects(fetch, parameters)))
    }

    public func count(
        _ entityName: String, where format: String? = nil, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:], includesSubentities: Bool = true
    ) async throws(LarderError) -> Int64 {
        try await Listing.total(
            session.collect(
                .count(
                    entityName, where: format, arguments: arguments, variables: variables,
                    includesSubentities: includesSubentities)))
    }

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

    public func stream(
        _ query: Query, _ parameters: QueryParameters = QueryParameters()
    ) async throws(LarderError) -> BatchStream {
        BatchStream(
            source: try await StreamSource.open(query, parameters, session), client: self)
    }

    public func explain(
        _ query: Query, _ parameters: QueryParameters = QueryParameters()
    ) async throws(LarderError) -> Explanation {
        try await session.perform(.explain(query, parameters))
    }

    public func schema() async throws(LarderError) -> Schema {
        if let schema = session.knownSchema { return schema }
        return try await session.perform(.schema(rememberedBy: session))
    }

    public func statistics() async throws(LarderError) -> [Statistic] {
        try await session.perform(.statistics)
    }

    public func check() async throws(LarderError) -> CheckReport {
        try await session.perform(.check)
    }

    public func ping() async throws(LarderError) {
        try await session.perform(.ping)
    }
}
