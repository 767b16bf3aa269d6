public import FoundationEssentials
public import LarderModel

/// Questions in Swift: what ``StoreClient`` asks with a format string, asked with `#Predicate`.
///
/// Each throws `unsupportedPredicate` before anything is sent if the predicate asks what a store
/// cannot be asked; the store answers all of it or nothing.
extension StoreClient {
    /// The objects that satisfy the predicate, with all attributes and to-one relationships.
    public func fetch<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, sort: [SortKey] = [], limit: Int64? = nil,
        offset: Int64? = nil, includesSubentities: Bool = true
    ) throws(LarderError) -> [Record] {
        try session.collect(
            .fetch(
                predicate, sort: sort, limit: limit, offset: offset,
                includesSubentities: includesSubentities))
    }

    /// How many objects satisfy the predicate.
    public func count<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, includesSubentities: Bool = true
    ) throws(LarderError) -> Int64 {
        try Listing.total(
            session.collect(.count(predicate, includesSubentities: includesSubentities)))
    }

    /// Values computed by the database over groups of the objects that satisfy the predicate.
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

    /// Sets properties of all objects that satisfy the predicate, in one transaction: values, and
    /// expressions such as `wordCount * 2` over each object as it was before.
    @discardableResult
    public func updateAll<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, _ values: [String: Value] = [:],
        expressions: KeyValuePairs<String, String> = [:], wantsIdentifiers: Bool = false,
        idempotencyKey: String = ""
    ) throws(LarderError) -> AffectedObjects {
        let selection = try ObjectSelection(predicate, wantsIdentifiers: wantsIdentifiers)
        return try session.perform(
            Operation.updateAll(selection, values, expressions).keyed(idempotencyKey))
    }

    /// Deletes all objects that satisfy the predicate, and what their delete rules say goes with
    /// them, in one transaction.
    @discardableResult
    public func deleteAll<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, wantsIdentifiers: Bool = false,
        idempotencyKey: String = ""
    ) throws(LarderError) -> AffectedObjects {
        let selection = try ObjectSelection(predicate, wantsIdentifiers: wantsIdentifiers)
        return try session.perform(Operation.deleteAll(selection).keyed(idempotencyKey))
    }
}

/// The asynchronous forms.
extension StoreClient {
    public func fetch<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, sort: [SortKey] = [], limit: Int64? = nil,
        offset: Int64? = nil, includesSubentities: Bool = true
    ) async throws(LarderError) -> [Record] {
        try await session.collect(
            .fetch(
                predicate, sort: sort, limit: limit, offset: offset,
                includesSubentities: includesSubentities))
    }

    public func count<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, includesSubentities: Bool = true
    ) async throws(LarderError) -> Int64 {
        try await Listing.total(
            session.collect(.count(predicate, includesSubentities: includesSubentities)))
    }

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

    @discardableResult
    public func updateAll<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, _ values: [String: Value] = [:],
        expressions: KeyValuePairs<String, String> = [:], wantsIdentifiers: Bool = false,
        idempotencyKey: String = ""
    ) async throws(LarderError) -> AffectedObjects {
        let selection = try ObjectSelection(predicate, wantsIdentifiers: wantsIdentifiers)
        return try await session.perform(
            Operation.updateAll(selection, values, expressions).keyed(idempotencyKey))
    }

    @discardableResult
    public func deleteAll<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, wantsIdentifiers: Bool = false,
        idempotencyKey: String = ""
    ) async throws(LarderError) -> AffectedObjects {
        let selection = try ObjectSelection(predicate, wantsIdentifiers: wantsIdentifiers)
        return try await session.perform(Operation.deleteAll(selection).keyed(idempotencyKey))
    }
}

extension ObjectSelection {
    fileprivate init<Entity: QueryableEntity>(
        _ predicate: Predicate<Entity>, wantsIdentifiers: Bool
    ) throws(LarderError) {
        let bound = try BoundExpression(predicate)
        self.init(
            Entity.entityName, where: .tree(bound.expression), arguments: bound.arguments,
            wantsIdentifiers: wantsIdentifiers)
    }
}

extension Listing where Element == Record {
    fileprivate static func fetch<Entity: QueryableEntity>(
        _ predicate: Predicate<Entity>, sort: [SortKey], limit: Int64?, offset: Int64?,
        includesSubentities: Bool
    ) throws(LarderError) -> Self {
        let bound = try BoundExpression(predicate)
        let fetch = Fetch(
            Entity.entityName, where: .tree(bound.expression), sort: sort,
            includesSubentities: includesSubentities)
        return Listing(
            query: .fetch(fetch),
            parameters: QueryParameters(arguments: bound.arguments, limit: limit, offset: offset),
            elements: { $0.records(store: $1) })
    }
}

extension Listing where Element == Row {
    fileprivate static func count<Entity: QueryableEntity>(
        _ predicate: Predicate<Entity>, includesSubentities: Bool
    ) throws(LarderError) -> Self {
        let bound = try BoundExpression(predicate)
        return Listing(
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
        return Listing(
            query: .aggregate(aggregate),
            parameters: QueryParameters(arguments: bound.arguments, limit: limit),
            elements: { $0.rows(store: $1) })
    }
}
