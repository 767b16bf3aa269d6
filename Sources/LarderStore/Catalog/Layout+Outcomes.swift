/// Where the outcomes of saves are stored that had an idempotency key. The same in every store.
extension Layout {
    static let outcomeTable = "_outcome"

    /// Numbers ascend in the order of the saves, without gaps: only the oldest are deleted.
    static let outcomeStatements = [
        """
        CREATE TABLE \(outcomeTable) (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, \
        digest INTEGER NOT NULL, time REAL NOT NULL, transaction_number INTEGER, \
        inserted TEXT NOT NULL, versions TEXT NOT NULL, deleted INTEGER NOT NULL, \
        merged TEXT NOT NULL, affected TEXT NOT NULL)
        """
    ]

    /// Of the outcome under a key: digest, transaction, inserted, versions, deleted, merged,
    /// affected.
    static let findOutcome =
        "SELECT digest, transaction_number, inserted, versions, deleted, merged, affected "
        + "FROM \(outcomeTable) WHERE key = ?"

    /// Key, digest, time, transaction, inserted, versions, deleted, merged, affected.
    static let insertOutcome =
        "INSERT INTO \(outcomeTable) (key, digest, time, transaction_number, inserted, versions, "
        + "deleted, merged, affected) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"

    /// Of the oldest ?3 outcomes, those up to the number ?1 or older than the time ?2.
    static let forgetOutcomes =
        "DELETE FROM \(outcomeTable) WHERE number IN (SELECT number FROM "
        + "(SELECT number, time FROM \(outcomeTable) ORDER BY number LIMIT ?3) "
        + "WHERE number <= ?1 OR time < ?2)"
}
