import LarderModel

/// The objects of a bulk update or delete, with the values that were computed for them.
///
/// They are in a temporary table, which the database keeps in a file when it grows. So all objects
/// are known before the first is changed, in little memory. One change at a time uses it.
struct BulkSelection {
    private static let keyColumn: SQL = "key"

    private let session: any WriteSession
    private let table: SQL
    private let insert: SQL
    private(set) var count: Int64 = 0

    /// - Parameter types: Those of the values; nil for the key of an object.
    init(
        _ types: [AttributeType?], _ session: any WriteSession, _ dialect: SQLDialect
    ) throws(SQLError) {
        self.session = session
        // No entity's name begins with an underscore.
        let selection = dialect.selection(types)
        table = selection.table
        try session.run(selection.create, [])
        let parameters = Array(repeating: "?" as SQL, count: 1 + types.count)
        insert = "INSERT INTO \(table) VALUES (\(parameters))"
    }

    mutating func append(_ row: [SQLValue]) throws(SQLError) {
        try session.run(insert, row)
        count += 1
    }

    /// Visits the rows in the order of their keys, until `visit` returns false. A row has the key
    /// and then the values.
    func rows(_ visit: ([SQLValue]) throws(SQLError) -> Bool) throws(SQLError) {
        try session.rows("SELECT * FROM \(table) ORDER BY \(Self.keyColumn)", [], visit)
    }

    /// Visits the keys in ascending order, until `visit` returns false.
    func keys(_ visit: (Int64) throws(SQLError) -> Bool) throws(SQLError) {
        try session.rows(
            "SELECT \(Self.keyColumn) FROM \(table) ORDER BY \(Self.keyColumn)", []
        ) { (row) throws(SQLError) in
            try visit(row[0].int64 ?? 0)
        }
    }

    /// Sets a column of all selected objects to nil.
    func clear(_ column: String, of entity: StoredEntity) throws(SQLError) {
        try session.run(
            """
            UPDATE \(entity.table) SET \(name: column) = NULL \
            WHERE \(name: Layout.keyColumn) IN (SELECT \(Self.keyColumn) FROM \(table))
            """, [])
    }

    /// Empties the table.
    func remove() throws(SQLError) {
        try session.run("DELETE FROM \(table)", [])
    }
}
