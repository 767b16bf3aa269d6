/// The writer's connection, as the rules and the runs of change sets use it. Nothing in this folder
/// reaches the database in another way.
///
/// Statements and rows cross the boundary as a whole: there is one dynamic call for each statement
/// and one call of a closure for each row. Used on the writer's thread.
package protocol WriteSession: AnyObject {
    /// Runs a statement without rows, with the values of its parameters in order.
    ///
    /// - Throws: A session may only queue the statement, and throw its error at the next ``rows``.
    func run(_ sql: SQL, _ values: [SQLValue]) throws(SQLError)

    /// Runs a statement, and visits its rows until `visit` returns false.
    ///
    /// `visit` may run other statements, this one too. Rows that they change are visited as they
    /// were or as they are.
    ///
    /// - Throws: `function` if a function of the store failed.
    func rows(
        _ sql: SQL, _ values: [SQLValue], _ visit: ([SQLValue]) throws(SQLError) -> Bool
    ) throws(SQLError)

    /// Runs a query that a client wrote, with the values that it has, and visits all rows.
    ///
    /// Unlike other statements of a change set, it may be stopped while it runs. `visit` may run
    /// other statements, which are not stopped.
    ///
    /// - Throws: `interrupted` if the budget of the set is used up, or an error with a
    ///   ``SQLError/queryError``.
    func query(
        _ sql: SQL, _ visit: ([SQLValue]) throws(SQLError) -> Void
    ) throws(SQLError)

    /// - Throws: `interrupted` if the budget of the set is used up.
    func checkBudget() throws(SQLError)
}

// The value of a column of a row.
extension SQLValue {
    /// nil for another value.
    package var int64: Int64? {
        if case .integer(let integer) = self { integer } else { nil }
    }

    /// nil for another value.
    package var string: String? {
        if case .text(let text) = self { text } else { nil }
    }
}
