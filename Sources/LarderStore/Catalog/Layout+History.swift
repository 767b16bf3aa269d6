/// Where the history is stored: transactions, runs of changes, and values that outlive their
/// object. The same in every store, whatever its schema.
extension Layout {
    static let transactionTable = "_transaction"
    static let changeTable = "_change"
    static let preservedTable = "_preserved"

    static var historyTables: [String] { [transactionTable, changeTable, preservedTable] }

    /// AUTOINCREMENT keeps the greatest number that was given, also when its row is gone.
    static var historyStatements: [String] {
        [
            """
            CREATE TABLE \(transactionTable) (number INTEGER PRIMARY KEY AUTOINCREMENT, \
            time REAL NOT NULL, author TEXT, client TEXT, user INTEGER, process INTEGER)
            """,
            """
            CREATE TABLE \(changeTable) (transaction_number INTEGER NOT NULL, \
            place INTEGER NOT NULL, kind INTEGER NOT NULL, entity TEXT NOT NULL, \
            first_key INTEGER NOT NULL, last_key INTEGER NOT NULL, properties TEXT, \
            PRIMARY KEY (transaction_number, place)) WITHOUT ROWID
            """,
            """
            CREATE TABLE \(preservedTable) (transaction_number INTEGER NOT NULL, \
            entity TEXT NOT NULL, key INTEGER NOT NULL, property TEXT NOT NULL, value, \
            PRIMARY KEY (transaction_number, entity, key, property)) WITHOUT ROWID
            """,
        ]
    }

    /// Number, time, author, client, user, process.
    static let insertTransaction = "INSERT INTO \(transactionTable) VALUES (?, ?, ?, ?, ?, ?)"

    /// Transaction, place, kind, entity, first key, last key, properties.
    static let insertChange = "INSERT INTO \(changeTable) VALUES (?, ?, ?, ?, ?, ?, ?)"

    /// Copies one attribute of the object ?2 into the history of transaction ?1. A stored nil gives
    /// way to ?3: a value that waits to be stored.
    static func preserve(
        _ column: String, in table: String, of entityName: String, as property: String
    ) -> String {
        // Names of a schema hold no quotation marks.
        "INSERT INTO \(preservedTable) SELECT ?1, '\(entityName)', ?2, '\(property)', "
            + "COALESCE(\(SQL.quoted(column)), ?3) FROM \(SQL.quoted(table)) "
            + "WHERE \(SQL.quoted(keyColumn)) = ?2"
    }
}
