/// Objects of an entity whose changes a reader of the history wants, and the values that it wants
/// with them.
///
/// A change of such an object is left out if the object matched the predicate neither before nor
/// after it. As the history has no old values, a change is returned if that is not certain; so a
/// deletion always is, and so is an update of a property in the predicate.
///
/// A transaction has the inserted and updated objects that match when it is read, with their values
/// at that time (``HistoryTransaction/objects``). A copy of the matching objects is kept up to date
/// by storing these, and by removing all others that a transaction changes.
public struct HistoryObjects: Hashable, Sendable {
    /// The entity, the predicate and the values to return: `identifiers` returns none. Without
    /// order, limit, cursor and prefetched relationships.
    public var fetch: Fetch
    /// The arguments and variables.
    public var parameters: QueryParameters

    public init(_ fetch: Fetch, _ parameters: QueryParameters = QueryParameters()) {
        self.fetch = fetch
        self.parameters = parameters
    }
}
