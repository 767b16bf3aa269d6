/// An index of words that has an attribute.
package struct PlanWordIndex: Hashable, Sendable {
    package let table: String
    /// The column of the attribute in the index.
    package let column: Int
    package let columnCount: Int
}
