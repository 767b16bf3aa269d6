public import FoundationEssentials
public import LarderModel

/// Queries and bulk changes with `#Predicate` in place of a format string, blocking.
///
/// The whole predicate is evaluated by the store. Each call throws `unsupportedPredicate` before it
/// sends a request if the store cannot evaluate a part of the predicate.
extension StoreClient {
    /// The objects that satisfy the predicate, with all attributes and to-one relationships.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of objects; nil is no limit.
    ///   - offset: The number of objects to skip.
    /// - Throws: `unsupportedPredicate`, `unknownEntity`, `unknownProperty`, `wrongType`.
    public func fetch<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, sort: [SortKey] = [], limit: Int64? = nil,
        offset: Int64? = nil, includesSubentities: Bool = true
    ) throws(LarderError) -> [Record] {
        try session.collect(
            .fetch(
                predicate, sort: sort, limit: limit, offset: offset,
                includesSubentities: includesSubentities))
    }

    /// The number of objects that satisfy the predicate.
    ///
    /// - Throws: as `fetch` does.
    public func count<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, includesSubentities: Bool = true
    ) throws(LarderError) -> Int64 {
        try ListQuery.total(
            session.collect(.count(predicate, includesSubentities: includesSubentities)))
    }

    /// Values that the store computes over groups of the objects that satisfy the predicate.
    ///
    /// - Returns: one row per group: the values of `groupBy`, then those of `columns`.
    /// - Throws: as `fetch` does.
    public func aggregate<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, groupBy: [QueryColumn] = [],
        _ columns: [Aggregate.Column],
        sort: [SortKey] = [], limit: Int64? = nil, includesSubentities: Bool = true
    ) throws(LarderError) -> [Row] {
        try session.collect(
            .aggregate(
                predicate, groupBy: groupBy, columns, sort: sort, limit: limit,
                includesSubentities: includesSubentities))
    }

    /// Sets properties of all objects that satisfy the predicate, in one transaction.
    ///
    /// - Parameters:
    ///   - values: The new values by property name.
    ///   - expressions: Expressions by property name, such as `wordCount * 2`. They are computed
    ///     from the values before the update.
    ///   - wantsIdentifiers: Whether the result has the identifiers of the updated objects.
    /// - Throws: as `fetch` does; `validationFailed`, `missingValue`, `uniquenessViolated`.
    @discardableResult
    public func updateAll<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, _ values: [String: Value] = [:],
        expressions: KeyValuePairs<String, String> = [:], sort: [SortKey] = [],
        limit: Int64? = nil, wantsIdentifiers: Bool = false, idempotencyKey: String = ""
    ) throws(LarderError) -> AffectedObjects {
        let selection = try ObjectSelection(
            predicate, sort: sort, limit: limit, wantsIdentifiers: wantsIdentifiers)
        return try session.perform(
            Operation.updateAll(selection, values, expressions).keyed(idempotencyKey))
    }

    /// Deletes all objects that satisfy the predicate, in one transaction, and applies their delete
    /// rules to related objects.
    ///
    /// - Throws: as `fetch` does; `deleteDenied` if a delete rule forbids it.
    @discardableResult
    public func deleteAll<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, sort: [SortKey] = [], limit: Int64? = nil,
        wantsIdentifiers: Bool = false, idempotencyKey: String = ""
    ) throws(LarderError) -> AffectedObjects {
        let selection = try ObjectSelection(
            predicate, sort: sort, limit: limit, wantsIdentifiers: wantsIdentifiers)
        return try session.perform(Operation.deleteAll(selection).keyed(idempotencyKey))
    }
}

/// The asynchronous forms. Each means the same as the blocking form, and throws the same errors,
/// `cancelled` if the task is cancelled, and `indeterminate` for a write that was sent by then.
extension StoreClient {
    /// Reads the objects that satisfy the predicate. Throws as the blocking form does.
    public func fetch<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, sort: [SortKey] = [], limit: Int64? = nil,
        offset: Int64? = nil, includesSubentities: Bool = true
    ) async throws(LarderError) -> [Record] {
        try await session.collect(
            .fetch(
                predicate, sort: sort, limit: limit, offset: offset,
                includesSubentities: includesSubentities))
    }

    /// Counts the objects that satisfy the predicate. Throws as the blocking form does.
    public func count<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, includesSubentities: Bool = true
    ) async throws(LarderError) -> Int64 {
        try await ListQuery.total(
            session.collect(.count(predicate, includesSubentities: includesSubentities)))
    }

    /// Computes values over groups of objects. Throws as the blocking form does.
    public func aggregate<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, groupBy: [QueryColumn] = [],
        _ columns: [Aggregate.Column],
        sort: [SortKey] = [], limit: Int64? = nil, includesSubentities: Bool = true
    ) async throws(LarderError) -> [Row] {
        try await session.collect(
            .aggregate(
                predicate, groupBy: groupBy, columns, sort: sort, limit: limit,
                includesSubentities: includesSubentities))
    }

    /// Sets properties of all objects that satisfy the predicate. Throws as the blocking form does.
    @discardableResult
    public func updateAll<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, _ values: [String: Value] = [:],
        expressions: KeyValuePairs<String, String> = [:], sort: [SortKey] = [],
        limit: Int64? = nil, wantsIdentifiers: Bool = false, idempotencyKey: String = ""
    ) async throws(LarderError) -> AffectedObjects {
        let selection = try ObjectSelection(
            predicate, sort: sort, limit: limit, wantsIdentifiers: wantsIdentifiers)
        return try await session.perform(
            Operation.updateAll(selection, values, expressions).keyed(idempotencyKey))
    }

    /// Deletes all objects that satisfy the predicate. Throws as the blocking form does.
    @discardableResult
    public func deleteAll<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, sort: [SortKey] = [], limit: Int64? = nil,
        wantsIdentifiers: Bool = false, idempotencyKey: String = ""
    ) async throws(LarderError) -> AffectedObjects {
        let selection = try ObjectSelection(
            predicate, sort: sort, limit: limit, wantsIdentifiers: wantsIdentifiers)
        return try await session.perform(Operation.deleteAll(selection).keyed(idempotencyKey))
    }
}

extension ObjectSelection {
    init<Entity: QueryableEntity>(
        _ predicate: Predicate<Entity>, sort: [SortKey] = [], limit: Int64? = nil,
        wantsIdentifiers: Bool
    ) throws(LarderError) {
        let bound = try BoundExpression(predicate)
        self.init(
            Entity.entityName, where: .tree(bound.expression), sort: sort, limit: limit,
            arguments: bound.arguments, wantsIdentifiers: wantsIdentifiers)
    }
}

extension ListQuery where Element == Record {
    fileprivate static func fetch<Entity: QueryableEntity>(
        _ predicate: Predicate<Entity>, sort: [SortKey], limit: Int64?, offset: Int64?,
        includesSubentities: Bool
    ) throws(LarderError) -> Self {
        let bound = try BoundExpression(predicate)
        let fetch = Fetch(
            Entity.entityName, where: .tree(bound.expression), sort: sort,
            includesSubentities: includesSubentities)
        return ListQuery(
            query: .fetch(fetch),
            parameters: QueryParameters(arguments: bound.arguments, limit: limit, offset: offset),
            elements: { $0.records(store: $1) })
    }
}

extension ListQuery where Element == Row {
    fileprivate static func count<Entity: QueryableEntity>(
        _ predicate: Predicate<Entity>, includesSubentities: Bool
    ) throws(LarderError) -> Self {
        let bound = try BoundExpression(predicate)
        return ListQuery(
            query: .count(
                entityName: Entity.entityName, predicate: .tree(bound.expression),
                includesSubentities: includesSubentities),
            parameters: QueryParameters(arguments: bound.arguments),
            elements: { $0.rows(store: $1) })
    }

    fileprivate static func aggregate<Entity: QueryableEntity>(
        _ predicate: Predicate<Entity>, groupBy: [QueryColumn], _ columns: [Aggregate.Column],
        sort: [SortKey], limit: Int64?, includesSubentities: Bool
    ) throws(LarderError) -> Self {
        let bound = try BoundExpression(predicate)
        let aggregate = Aggregate(
            Entity.entityName, where: .tree(bound.expression), groupBy: groupBy, columns,
            sort: sort, includesSubentities: includesSubentities)
        return ListQuery(
            query: .aggregate(aggregate),
            parameters: QueryParameters(arguments: bound.arguments, limit: limit),
            elements: { $0.rows(store: $1) })
    }
}
