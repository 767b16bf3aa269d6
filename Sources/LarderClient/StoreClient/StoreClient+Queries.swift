public import LarderModel

/// Questions, blocking. The asynchronous forms are in `StoreClient+Async.swift`.
extension StoreClient {
    /// The objects that satisfy a predicate in Core Data's format, with all attributes and to-one
    /// relationships; `arguments` fill its `%@` and `%K`, `variables` its `$name`. For results that
    /// may be large, use ``stream(_:_:)-(Query,_)``.
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

    /// The objects that a fetch finds, with those that it prefetches.
    ///
    /// Rows of a distinct fetch are no objects; for these, and for results that may be large, use
    /// ``stream(_:_:)-(Query,_)``.
    public func fetch(
        _ fetch: Fetch, _ parameters: QueryParameters = QueryParameters()
    ) throws(LarderError) -> FetchResult {
        FetchResult(try session.collect(.objects(fetch, parameters)))
    }

    /// How many objects satisfy a predicate.
    public func count(
        _ entityName: String, where format: String? = nil, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:], includesSubentities: Bool = true
    ) throws(LarderError) -> Int64 {
        try Listing.total(
            session.collect(
                .count(
                    entityName, where: format, arguments: arguments, variables: variables,
                    includesSubentities: includesSubentities)))
    }

    /// Values computed by the database over groups of objects: a row for each group, the group's
    /// key paths first. Without `groupBy`, one row over all objects.
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

    /// Any query, batch by batch, in bounded memory.
    ///
    /// What is wrong with the query is thrown by the first ``BatchStream/next()-()``.
    public func stream(
        _ query: Query, _ parameters: QueryParameters = QueryParameters()
    ) throws(LarderError) -> BatchStream {
        BatchStream(
            source: try StreamSource.open(query, parameters, session), client: self)
    }

    /// How the server would answer a query.
    public func explain(
        _ query: Query, _ parameters: QueryParameters = QueryParameters()
    ) throws(LarderError) -> Explanation {
        try session.perform(.explain(query, parameters))
    }

    /// The store's schema; asked for once, and again when the server comes back with another.
    public func schema() throws(LarderError) -> Schema {
        if let schema = session.knownSchema { return schema }
        return try session.perform(.schema(rememberedBy: session))
    }

    /// Figures about the store, in the order to show them.
    public func statistics() throws(LarderError) -> [Statistic] {
        try session.perform(.statistics)
    }

    /// Looks at every object and every link of the store for what must hold of them. It reads all
    /// of the store, and takes its time.
    public func check() throws(LarderError) -> CheckReport {
        try session.perform(.check)
    }

    /// Returns once the server has gone through its reader and its writer.
    public func ping() throws(LarderError) {
        try session.perform(.ping)
    }
}
