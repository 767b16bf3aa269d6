import LarderModel

/// The tables of the history: transactions, runs of changes, and values of objects that were
/// deleted or updated. They are the same for every schema.
extension Layout {
    package static let transactionTable = "_transaction"
    package static let changeTable = "_change"
    package static let preservedTable = "_preserved"

    package static var historyTables: [String] { [transactionTable, changeTable, preservedTable] }

    /// A transaction's row has its first run as well, because most transactions have only one. The
    /// newest transaction is never deleted: its number is the greatest that was assigned.
    package static var historyStatements: [SQL] {
        [
            createTransactions,
            """
            CREATE TABLE \(name: changeTable) (transaction_number INTEGER NOT NULL, \
            place INTEGER NOT NULL, \(runColumns), \
            PRIMARY KEY (transaction_number, place)) WITHOUT ROWID
            """,
            """
            CREATE TABLE \(name: preservedTable) (transaction_number INTEGER NOT NULL, \
            entity TEXT NOT NULL, key INTEGER NOT NULL, property TEXT NOT NULL, value, \
            PRIMARY KEY (transaction_number, entity, key, property)) WITHOUT ROWID
            """,
        ]
    }

    private static var createTransactions: SQL {
        """
        CREATE TABLE \(name: transactionTable) (number INTEGER PRIMARY KEY, time REAL NOT NULL, \
        author TEXT, client TEXT, user INTEGER, process INTEGER, \(runColumns))
        """
    }

    /// The history of format 2.
    package static var formerHistoryStatements: [SQL] {
        let transactions: SQL = """
            CREATE TABLE \(name: transactionTable) (number INTEGER PRIMARY KEY AUTOINCREMENT, \
            time REAL NOT NULL, author TEXT, client TEXT, user INTEGER, process INTEGER)
            """
        return [transactions] + historyStatements.dropFirst()
    }

    private static let runColumns: SQL = """
        kind INTEGER NOT NULL, entity TEXT NOT NULL, first_key INTEGER NOT NULL, \
        last_key INTEGER NOT NULL, properties TEXT
        """

    /// Upgrades the history of format 2, in which each run was a row of its own, numbered from 0.
    package static var historyUpgradeStatements: [SQL] {
        let former = "_former_transaction"
        return [
            "ALTER TABLE \(name: transactionTable) RENAME TO \(name: former)",
            createTransactions,
            """
            INSERT INTO \(name: transactionTable) \
            SELECT number, time, author, client, user, process, kind, entity, first_key, last_key, \
            properties FROM \(name: former) JOIN \(name: changeTable) \
            ON transaction_number = number AND place = 0 ORDER BY number
            """,
            "DELETE FROM \(name: changeTable) WHERE place = 0",
            "DROP TABLE \(name: former)",
        ]
    }

    /// Number, time, author, client, user, process; kind, entity, first key, last key, properties.
    package static let insertTransaction: SQL =
        "INSERT INTO \(name: transactionTable) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

    /// Transaction; for one run its number from 1, kind, entity, first key, last key, properties.
    package static let insertChange = insertChanges(1)
    /// The form for ``changesAtOnce`` runs of the transaction, one after the other.
    package static let insertSeveralChanges = insertChanges(changesAtOnce)

    package static let changesAtOnce = 32
    package static let changeParameterCount = 6

    private static func insertChanges(_ count: Int) -> SQL {
        let runs = Array(repeating: "(?1, ?, ?, ?, ?, ?, ?)" as SQL, count: count)
        return "INSERT INTO \(name: changeTable) VALUES \(runs)"
    }

    package static let lastTransaction: SQL = "SELECT max(number) FROM \(name: transactionTable)"

    private static let transactionValues: SQL = """
        number, time, author, client, "user", process, kind, entity, first_key, last_key, properties
        """

    /// The transactions from ?1 to ?2, each with its first run.
    package static let transactionsFrom: SQL = """
        SELECT \(transactionValues) FROM \(name: transactionTable) WHERE number >= ?1 \
        AND number <= ?2 ORDER BY number
        """

    /// The transactions up to ?1 and after ?2, the newest first.
    package static let transactionsBackFrom: SQL = """
        SELECT \(transactionValues) FROM \(name: transactionTable) WHERE number <= ?1 \
        AND number > ?2 ORDER BY number DESC
        """

    /// The runs of a transaction other than the first: from a number on.
    package static let changesOfTransaction: SQL = """
        SELECT kind, entity, first_key, last_key, properties FROM \(name: changeTable) \
        WHERE transaction_number = ?1 AND place >= ?2 ORDER BY place
        """

    /// Preserved values of the objects of a run.
    package static let preservedValues: SQL = """
        SELECT key, property, value FROM \(name: preservedTable) WHERE transaction_number = ?1 \
        AND entity = ?2 AND key BETWEEN ?3 AND ?4 ORDER BY key, property
        """

    /// Transaction, entity, key, property, value. The first value of a property stays.
    static func recordFormerValue(_ dialect: SQLDialect) -> SQL { formerValue[dialect] }

    private static let formerValue = SQLForms {
        $0.insertUnlessPresent("\(name: preservedTable) VALUES (?, ?, ?, ?, ?)")
    }

    package static let firstTransaction: SQL = "SELECT min(number) FROM \(name: transactionTable)"

    /// The first page of the table of transactions.
    package static let rootOfTransactions: SQL =
        "SELECT rootpage FROM sqlite_schema WHERE name = \(literal: transactionTable)"

    /// The first transaction at ?1 or later.
    package static let firstTransactionSince: SQL = """
        SELECT number FROM \(name: transactionTable) WHERE time >= ?1 ORDER BY number LIMIT 1
        """

    /// The newest transaction that is not among the newest ?1.
    package static let newestTransactions: SQL = """
        SELECT number FROM \(name: transactionTable) ORDER BY number DESC LIMIT 1 OFFSET ?1
        """

    /// Deletes the oldest transactions up to ?1, at most ?2.
    package static let deleteTransactions: SQL = """
        DELETE FROM \(name: transactionTable) WHERE number IN \
        (SELECT number FROM \(name: transactionTable) WHERE number <= ?1 ORDER BY number LIMIT ?2)
        """

    /// Deletes runs of transactions up to ?1, at most ?2.
    package static let deleteChanges: SQL = """
        DELETE FROM \(name: changeTable) WHERE (transaction_number, place) IN \
        (SELECT transaction_number, place FROM \(name: changeTable) \
        WHERE transaction_number <= ?1 ORDER BY transaction_number, place LIMIT ?2)
        """

    /// Deletes preserved values of transactions up to ?1, at most ?2.
    package static let deletePreserved: SQL = """
        DELETE FROM \(name: preservedTable) WHERE (transaction_number, entity, key, property) IN \
        (SELECT transaction_number, entity, key, property FROM \(name: preservedTable) \
        WHERE transaction_number <= ?1 ORDER BY transaction_number, entity, key, property LIMIT ?2)
        """

    /// All runs of all transactions, in parentheses.
    package static let everyChange: SQL = """
        (SELECT number AS transaction_number, 0 AS place, kind, entity, first_key, last_key, \
        properties FROM \(name: transactionTable) UNION ALL \
        SELECT transaction_number, place, kind, entity, first_key, last_key, properties \
        FROM \(name: changeTable))
        """

    /// Copies one attribute of the object ?2 into the history of transaction ?1. A stored nil is
    /// replaced by ?3, a value that is not stored yet.
    static func preserve(
        _ column: String, in table: String, of entityName: String, as property: Attribute,
        _ dialect: SQLDialect
    ) -> SQL {
        let value: SQL = "COALESCE(\(name: column), ?3)"
        return """
            INSERT INTO \(name: preservedTable) \
            SELECT ?1, \(literal: entityName), ?2, \(literal: property.name), \
            \(dialect.recorded(value, as: property.type)) FROM \(name: table) \
            WHERE \(name: keyColumn) = ?2
            """
    }

    /// Replaces the number ?2 of a transaction in the recorded values by ?1.
    package static let renumberPreserved: SQL = """
        UPDATE \(name: preservedTable) SET transaction_number = ?1 WHERE transaction_number = ?2
        """
}
