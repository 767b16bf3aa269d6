/// Where the history is stored: transactions, runs of changes, and values that outlive their
/// object. The same in every store, whatever its schema.
extension Layout {
    static let transactionTable = "_transaction"
    static let changeTable = "_change"
    static let preservedTable = "_preserved"

    static var historyTables: [String] { [transactionTable, changeTable, preservedTable] }

    /// A transaction's row has its first run too, since most transactions have no other. Nobody
    /// deletes the newest transaction: its number is the greatest that was given.
    static var historyStatements: [String] {
        [
            createTransactions,
            """
            CREATE TABLE \(changeTable) (transaction_number INTEGER NOT NULL, \
            place INTEGER NOT NULL, \(runColumns), \
            PRIMARY KEY (transaction_number, place)) WITHOUT ROWID
            """,
            """
            CREATE TABLE \(preservedTable) (transaction_number INTEGER NOT NULL, \
            entity TEXT NOT NULL, key INTEGER NOT NULL, property TEXT NOT NULL, value, \
            PRIMARY KEY (transaction_number, entity, key, property)) WITHOUT ROWID
            """,
        ]
    }

    private static var createTransactions: String {
        """
        CREATE TABLE \(transactionTable) (number INTEGER PRIMARY KEY, time REAL NOT NULL, \
        author TEXT, client TEXT, user INTEGER, process INTEGER, \(runColumns))
        """
    }

    private static let runColumns =
        "kind INTEGER NOT NULL, entity TEXT NOT NULL, first_key INTEGER NOT NULL, "
        + "last_key INTEGER NOT NULL, properties TEXT"

    /// Makes the history of format 2 one of today's: there each run was a row of its own, from the
    /// place 0.
    static var historyUpgradeStatements: [String] {
        let former = "_former_transaction"
        return [
            "ALTER TABLE \(transactionTable) RENAME TO \(former)",
            createTransactions,
            """
            INSERT INTO \(transactionTable) SELECT number, time, author, client, user, process, \
            kind, entity, first_key, last_key, properties FROM \(former) \
            JOIN \(changeTable) ON transaction_number = number AND place = 0 ORDER BY number
            """,
            "DELETE FROM \(changeTable) WHERE place = 0",
            "DROP TABLE \(former)",
        ]
    }

    /// Number, time, author, client, user, process; kind, entity, first key, last key, properties.
    static let insertTransaction =
        "INSERT INTO \(transactionTable) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

    /// Transaction; of one run place from 1, kind, entity, first key, last key, properties.
    static let insertChange = SQLText(insertChanges(1))
    /// The same of ``changesAtOnce`` runs of the transaction, one after the other.
    static let insertSeveralChanges = SQLText(insertChanges(changesAtOnce))

    static let changesAtOnce = 32
    static let changeParameterCount = 6

    private static func insertChanges(_ count: Int) -> String {
        let runs = Array(repeating: "(?1, ?, ?, ?, ?, ?, ?)", count: count)
        return "INSERT INTO \(changeTable) VALUES \(runs.joined(separator: ", "))"
    }

    static let lastTransaction = "SELECT max(number) FROM \(transactionTable)"

    /// All runs of all transactions, in parentheses.
    static let everyChange =
        "(SELECT number AS transaction_number, 0 AS place, kind, entity, first_key, last_key, "
        + "properties FROM \(transactionTable) UNION ALL SELECT transaction_number, place, kind, "
        + "entity, first_key, last_key, properties FROM \(changeTable))"

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
