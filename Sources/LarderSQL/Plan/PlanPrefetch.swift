/// The destinations of one relationship of a query's rows.
package struct PlanPrefetch: Hashable, Sendable {
    /// The key path from the rows of the query.
    package var keyPath: String
    /// The column of the rows with the keys.
    package var column: Int
    /// The objects, with their own prefetched ones.
    package var query: ResolvedQuery
    /// Its statement, for the keys.
    package var statement: KeyStatement
}
