/// The table of the outcomes of saves with an idempotency key. It is the same for every schema.
extension Layout {
    package static let outcomeTable = "_outcome"

    /// The user of saves that did not arrive from a process with a known user.
    package static let noUser: Int64 = -1

    /// Numbers ascend in the order of the saves. Those in the second column bound the outcomes of a
    /// user: a new outcome has the number of one that its save has released, or the next number.
    package static let outcomeStatements: [SQL] = [
        """
        CREATE TABLE \(name: outcomeTable) (number INTEGER PRIMARY KEY, \
        user_number INTEGER NOT NULL, user INTEGER NOT NULL, key TEXT NOT NULL, \
        \(outcomeColumns), UNIQUE (user, key), UNIQUE (user, user_number))
        """
    ]

    /// The outcomes of formats 3 to 5, whose keys all users shared.
    package static let formerOutcomeStatements: [SQL] = [
        """
        CREATE TABLE \(name: outcomeTable) (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, \
        \(outcomeColumns))
        """
    ]

    private static let outcomeColumns: SQL = """
        digest INTEGER NOT NULL, time REAL NOT NULL, transaction_number INTEGER, \
        inserted TEXT NOT NULL, versions TEXT NOT NULL, deleted INTEGER NOT NULL, \
        merged TEXT NOT NULL, affected TEXT NOT NULL
        """

    /// Upgrades the outcomes of formats 3 to 5. The history has the user of each save, unless it
    /// changed nothing; to repeat such a save changes nothing either.
    package static var outcomeUpgradeStatements: [SQL] {
        let former = "_former_outcome"
        let values: SQL =
            "digest, time, transaction_number, inserted, versions, deleted, merged, affected"
        return ["ALTER TABLE \(name: outcomeTable) RENAME TO \(name: former)"]
            + outcomeStatements + [
                """
                INSERT INTO \(name: outcomeTable) (number, user_number, user, key, \(values)) \
                SELECT number, row_number() OVER (PARTITION BY user ORDER BY number), user, key, \
                \(values) FROM (SELECT *, COALESCE((SELECT t.user FROM \
                \(name: transactionTable) AS t WHERE t.number = transaction_number), \(noUser)) \
                AS user FROM \(name: former)) ORDER BY number
                """,
                "DROP TABLE \(name: former)",
            ]
    }

    /// Reads the outcome with a user and a key: digest, transaction, inserted, versions, deleted,
    /// merged, affected.
    package static let findOutcome: SQL = """
        SELECT digest, transaction_number, inserted, versions, deleted, merged, affected \
        FROM \(name: outcomeTable) WHERE "user" = ? AND key = ?
        """

    /// Reads the time of the outcome of user ?1 that has ?2 newer ones of the same user, less one.
    package static let findOutcomeTime: SQL = """
        SELECT time FROM \(name: outcomeTable) WHERE "user" = ?1 AND user_number = \
        (SELECT max(user_number) FROM \(name: outcomeTable) WHERE "user" = ?1) - ?2 + 1
        """

    /// Reads the number among the outcomes of user ?1 of the one with key ?2.
    package static let findOutcomeNumber: SQL = """
        SELECT user_number FROM \(name: outcomeTable) WHERE "user" = ?1 AND key = ?2
        """

    /// Deletes the outcome with a user and a key.
    package static let releaseOutcome: SQL = """
        DELETE FROM \(name: outcomeTable) WHERE "user" = ? AND key = ?
        """

    /// User, key, digest, time, transaction, inserted, versions, deleted, merged, affected, the
    /// number among those of the user or nil.
    static func insertOutcome(_ dialect: SQLDialect) -> SQL { newOutcome[dialect] }

    private static let newOutcome = SQLForms { dialect in
        // SQLite numbers the rows itself.
        let isNumbered = dialect == .postgres
        let number: SQL = isNumbered ? "number, " : ""
        let next: SQL =
            isNumbered ? "nextval(\(literal: "\"\(outcomeSequence)\"")), " : ""
        return """
            INSERT INTO \(name: outcomeTable) (\(number)user_number, "user", key, digest, time, \
            transaction_number, inserted, versions, deleted, merged, affected) \
            VALUES (\(next)COALESCE(?11, COALESCE((SELECT max(user_number) \
            FROM \(name: outcomeTable) WHERE "user" = ?1), 0) + 1), \
            ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """
    }

    /// The sequence of the numbers of outcomes in PostgreSQL.
    static let outcomeSequence = "\(outcomeTable).number"

    /// Sets the transaction ?1 of the outcome of user ?2 with key ?3.
    package static let renumberOutcome: SQL = """
        UPDATE \(name: outcomeTable) SET transaction_number = ?1 WHERE "user" = ?2 AND key = ?3
        """

    /// Deletes, among the oldest ?2 outcomes, those older than the time ?1.
    package static let forgetOutcomes: SQL = """
        DELETE FROM \(name: outcomeTable) WHERE number IN (SELECT number FROM \
        (SELECT number, time FROM \(name: outcomeTable) ORDER BY number LIMIT ?2) AS oldest \
        WHERE time < ?1)
        """
}
