/// An error of PostgreSQL or of the connection to it. It stays within the store; ``larderError`` is
/// what leaves it.
package struct PostgresError: Error, Hashable, Sendable {
    /// The kind of the failure. No code outside of this folder sees SQLSTATE.
    package enum Condition: Hashable, Sendable {
        // Errors before a connection is ready.

        /// The address of the server is not one that libpq reads.
        case malformedAddress
        /// No server answers there.
        case cannotConnect
        case authenticationFailed
        case noSuchDatabase
        /// The server is starting, stopping or recovering.
        case notReady
        case tooManyConnections
        case serverTooOld
        /// The database does not store text as UTF-8.
        case wrongEncoding

        // Errors that concern a connection.

        /// The connection ended. The result of a COMMIT that was sent is unknown.
        case connectionLost
        /// The deadline passed, and the statement was stopped or its connection closed.
        case deadlinePassed
        /// The statement was stopped: by a cancellation, or by the server's own limit of time.
        case cancelled
        /// All connections of the pool are in use, and enough threads wait for one.
        case poolExhausted

        // Errors that concern a transaction.

        /// The transaction conflicts with another one and may be run again.
        case serializationFailed
        /// An earlier statement failed, so this one was not run.
        case notRun

        // Errors that concern a statement.

        case uniquenessViolated
        case foreignKeyViolated
        case checkViolated
        case notNullViolated
        /// A number is out of the range of its column or operation.
        case outOfRange
        /// A text has U+0000, which PostgreSQL does not store.
        case invalidText
        /// A parameter cannot be sent.
        case malformedValue
        /// A result, a row or a statement is larger than a limit.
        case tooLarge
        case permissionDenied
        case readOnly
        /// A table, column, function or schema does not exist, or has another type.
        case schemaChanged
        /// The statement is wrong.
        case statement
        case full
        case outOfMemory
        case inputOutput
        case corrupt
        /// The server sent something that the store does not expect.
        case unexpectedReply
        case other
    }

    package var condition: Condition
    /// One sentence: libpq's or the server's message, which may be in the server's language, or the
    /// store's own. It has no password in it, and none of the details with stored values.
    package var message: String
    /// PostgreSQL's code; empty for an error that the server did not report.
    package var sqlState = ""
    /// The constraint that was violated, and the table; empty for other errors.
    package var constraint = ""
    package var table = ""

    package init(_ condition: Condition, _ message: String) {
        self.condition = condition
        self.message = message
    }

    /// An error that the server reported.
    init(
        sqlState: String, _ message: String, constraint: String = "", table: String = ""
    ) {
        condition = Condition(sqlState: sqlState)
        self.message = message
        self.sqlState = sqlState
        self.constraint = constraint
        self.table = table
    }

    /// Whether the error concerns its statement alone and says nothing about the server.
    package var concernsStatementOnly: Bool {
        switch condition {
        case .uniquenessViolated, .foreignKeyViolated, .checkViolated, .notNullViolated,
            .outOfRange, .invalidText, .malformedValue, .tooLarge, .statement:
            true
        case .malformedAddress, .cannotConnect, .authenticationFailed, .noSuchDatabase, .notReady,
            .tooManyConnections, .serverTooOld, .wrongEncoding, .connectionLost, .deadlinePassed,
            .cancelled, .poolExhausted, .serializationFailed, .notRun, .permissionDenied, .readOnly,
            .schemaChanged, .full, .outOfMemory, .inputOutput, .corrupt, .unexpectedReply, .other:
            false
        }
    }
}
