import LarderModel

extension SQLWriter {
    /// A statement that hands each row to `larder_row`, if the query is a scan.
    ///
    /// That the function stands in the condition is what makes it quick: SQLite goes from row to
    /// row by itself, and gives one of its own, of no meaning, only where the function says that it
    /// wants to pause. It may stand there because nothing else does. The rows come in the order of
    /// their keys because no index may be used, a covering one neither.
    mutating func scan(_ query: ResolvedQuery) throws(LarderError) -> SQLFragment? {
        guard query.isScan, try !ask(.hasLimit), try !ask(.hasOffset) else { return nil }
        let results = try results(query)
        guard 1...Connection.argumentsMax ~= results.count else { return nil }
        var statement = SQLFragment("SELECT 1 FROM ")
        statement += from(query.sources) + " NOT INDEXED WHERE "
        statement += "\(Connection.rowFunction)(" + results.joined(separator: ", ") + ")"
        statement += " ORDER BY t0.\(SQL.quoted(Layout.keyColumn))"
        statement.isScan = true
        return statement
    }
}
