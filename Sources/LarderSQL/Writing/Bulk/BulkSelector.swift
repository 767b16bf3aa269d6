import LarderModel

/// Runs the query of a bulk update or delete, or of a condition.
struct BulkSelector {
    let context: ChangeContext

    /// Stores the selected keys and computed values in a temporary table.
    ///
    /// - Parameter columns: Those of the query, of which the first has the keys.
    /// - Returns: The error of the caller with which the query failed, if it did.
    /// - Throws: `interrupted` if the budget is used up, or an error of the database.
    func select(
        _ sql: SQL, _ columns: [ResolvedQuery.OutputColumn]
    ) throws(SQLError) -> Result<BulkSelection, LarderError> {
        let columnCount = columns.count
        let types = columns.dropFirst().map { column -> AttributeType? in
            if case .attribute(let type) = column.kind { type } else { nil }
        }
        var selected = try BulkSelection(types, context.session, context.schema.dialect)
        let error = try run(sql) { (row) throws(SQLError) in
            // The name of the object's entity may follow.
            try selected.append(row.count > columnCount ? Array(row.prefix(columnCount)) : row)
        }
        return error.map { .failure($0) } ?? .success(selected)
    }

    /// Counts the rows. Returns and throws as ``select(_:_:)`` does.
    func count(_ sql: SQL) throws(SQLError) -> Result<Int64, LarderError> {
        var count: Int64 = 0
        let error = try run(sql) { _ in count += 1 }
        return error.map { .failure($0) } ?? .success(count)
    }

    private func run(
        _ sql: SQL, _ visit: ([SQLValue]) throws(SQLError) -> Void
    ) throws(SQLError) -> LarderError? {
        do throws(SQLError) {
            try context.session.query(sql, visit)
            return nil
        } catch {
            guard let reason = error.queryError else { throw error }
            return reason
        }
    }
}
