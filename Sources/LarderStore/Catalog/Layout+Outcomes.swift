/// The table of the outcomes of saves with an idempotency key. It is the same for every schema.
extension Layout {
    static let outcomeTable = "_outcome"

    /// Numbers ascend in the order of the saves, without gaps: only the oldest are deleted.
    static let outcomeStatements: [SQL] = [
        """
        CREATE TABLE \(name: outcomeTable) (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, \
        digest INTEGER NOT NULL, time REAL NOT NULL, transaction_number INTEGER, \
        inserted TEXT NOT NULL, versions TEXT NOT NULL, deleted INTEGER NOT NULL, \
        merged TEXT NOT NULL, affected TEXT NOT NULL)
        """
    ]

    /// Reads the outcome with a key: digest, transaction, inserted, versions, deleted, merged,
    /// affected.
    static let findOutcome: SQL = """
        SELECT digest, transaction_number, inserted, versions, deleted, merged, affected \
        FROM \(name: outcomeTable) WHERE key = ?
        """

    /// Key, digest, time, transaction, inserted, versions, deleted, merged, affected.
    static let insertOutcome: SQL = """
        INSERT INTO \(name: outcomeTable) (key, digest, time, transaction_number, inserted, \
        versions, deleted, merged, affected) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// Deletes, among the oldest ?3 outcomes, those up to the number ?1 or older than the time ?2.
    static let forgetOutcomes: SQL = """
        DELETE FROM \(name: outcomeTable) WHERE number IN (SELECT number FROM \
        (SELECT number, time FROM \(name: outcomeTable) ORDER BY number LIMIT ?3) \
        WHERE number <= ?1 OR time < ?2)
        """
}
