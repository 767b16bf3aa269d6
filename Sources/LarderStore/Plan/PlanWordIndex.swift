/// An index of words that has an attribute.
struct PlanWordIndex: Hashable, Sendable {
    let table: String
    /// The column of the attribute in the index.
    let column: Int
    let columnCount: Int
}
