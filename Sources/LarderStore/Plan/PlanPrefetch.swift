/// The destinations of one relationship of a query's rows.
struct PlanPrefetch: Hashable, Sendable {
    /// The key path from the rows of the query.
    var keyPath: String
    /// The column of the rows with the keys.
    var column: Int
    /// The objects, with their own prefetched ones.
    var query: ResolvedQuery
    /// Its statement, for the keys.
    var statement: KeyStatement
}
