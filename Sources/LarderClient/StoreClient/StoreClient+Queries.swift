public import LarderModel

/// Queries, blocking. `StoreClient+Async.swift` has the asynchronous forms.
extension StoreClient {
    /// The objects that satisfy a predicate, with all attributes and to-one relationships.
    ///
    /// For results that may be large, use `stream(_:_:)`.
    ///
    /// - Parameters:
    ///   - format: The predicate in Core Data's format; nil is all objects of the entity.
    ///   - arguments: The values for `%@` and `%K`.
    ///   - variables: The values for `$name`.
    ///   - limit: The maximum number of objects; nil is no limit.
    ///   - offset: The number of objects to skip.
    ///   - includesSubentities: Whether objects of subentities are included.
    /// - Throws: `malformedPredicate` with the column of the error, `unknownEntity`,
    ///   `unknownProperty`, `wrongType`, `unsupportedPredicate`, `foreignIdentifier`.
    public func fetch(
        _ entityName: String, where format: String? = nil, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:], sort: [SortKey] = [], limit: Int64? = nil,
        offset: Int64? = nil, includesSubentities: Bool = true
    ) throws(LarderError) -> [Record] {
        try session.collect(
            .fetch(
                entityName, where: format, arguments: arguments, variables: variables, sort: sort,
                limit: limit, offset: offset, includesSubentities: includesSubentities))
    }

    /// The objects of a fetch, and the objects that it prefetches.
    ///
    /// The rows of a distinct fetch are not objects. For these, and for results that may be large,
    /// use `stream(_:_:)`.
    ///
    /// - Throws: as the other form of `fetch` does.
    public func fetch(
        _ fetch: Fetch, _ parameters: QueryParameters = QueryParameters()
    ) throws(LarderError) -> FetchResult {
        FetchResult(try session.collect(.objects(fetch, parameters)))
    }

    /// The number of objects that satisfy a predicate.
    ///
    /// - Throws: as `fetch` does.
    public func count(
        _ entityName: String, where format: String? = nil, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:], includesSubentities: Bool = true
    ) throws(LarderError) -> Int64 {
        try ListQuery.total(
            session.collect(
                .count(
                    entityName, where: format, arguments: arguments, variables: variables,
                    includesSubentities: includesSubentities)))
    }

    /// Values that the store computes over groups of objects.
    ///
    /// - Parameters:
    ///   - format: The predicate that objects must satisfy; nil is all objects of the entity.
    ///   - groupBy: The values by which objects are grouped; empty is one group of all objects.
    ///   - columns: The values to compute for each group.
    ///   - having: A predicate that groups must satisfy.
    ///   - limit: The maximum number of rows; nil is no limit.
    /// - Returns: one row per group: the values of `groupBy`, then those of `columns`.
    /// - Throws: as `fetch` does.
    public func aggregate(
        _ entityName: String, where format: String? = nil, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:], groupBy: [QueryColumn] = [],
        _ columns: [Aggregate.Column], having: String? = nil, sort: [SortKey] = [],
        limit: Int64? = nil, includesSubentities: Bool = true
    ) throws(LarderError) -> [Row] {
        try session.collect(
            .aggregate(
                entityName, where: format, arguments: arguments, variables: variables,
                groupBy: groupBy, columns, having: having, sort: sort, limit: limit,
                includesSubentities: includesSubentities))
    }

    /// Runs a query whose result is read batch by batch, in bounded memory.
    ///
    /// - Throws: errors of the connection. The first `BatchStream.next()` throws the errors of
    ///   the query, as `fetch` does.
    public func stream(
        _ query: Query, _ parameters: QueryParameters = QueryParameters()
    ) throws(LarderError) -> BatchStream {
        BatchStream(
            source: try StreamSource.open(query, parameters, session), client: self)
    }

    /// The plan of a query, without running it.
    ///
    /// - Throws: as `fetch` does.
    public func explain(
        _ query: Query, _ parameters: QueryParameters = QueryParameters()
    ) throws(LarderError) -> Explanation {
        try session.perform(.explain(query, parameters))
    }

    /// Runs a query without sending its rows, and returns its plan with what the run took:
    /// `Explanation.execution`.
    ///
    /// - Throws: as `fetch` does.
    public func analyze(
        _ query: Query, _ parameters: QueryParameters = QueryParameters()
    ) throws(LarderError) -> Explanation {
        try session.perform(.analyze(query, parameters))
    }

    /// The store's schema. It is read once, and again if a new connection has another schema.
    ///
    /// - Throws: `malformedSchema` if the server's schema cannot be read.
    public func schema() throws(LarderError) -> Schema {
        try session.schema()
    }

    /// The metrics of the server and the store, in the order to show them.
    ///
    /// - Throws: errors of the connection and the server only.
    public func statistics() throws(LarderError) -> [Statistic] {
        try session.perform(.statistics)
    }

    /// Verifies the integrity of the store. It reads every object and every relationship, which
    /// takes long for a large store.
    ///
    /// - Returns: the problems that were found; none if the store is consistent.
    /// - Throws: errors of the connection and the server only.
    public func check() throws(LarderError) -> CheckReport {
        try session.perform(.check)
    }

    /// Returns after a round trip through the server's reader and writer.
    ///
    /// - Throws: errors of the connection and the server only.
    public func ping() throws(LarderError) {
        try session.perform(.ping)
    }
}
