import LarderModel

/// An error of a statement or of the database. It stays within the store, whose backend makes a
/// `LarderError` of what leaves it.
///
/// SQLite's errors are made with it. Another backend converts its own errors where it runs the
/// statements of shared code.
package struct SQLError: Error, Hashable, Sendable {
    /// The kind of failure. No code outside of a backend sees the codes of its database.
    package enum Condition: Hashable, Sendable {
        /// The statement is wrong, or a function ended it.
        case statement
        /// A function of the store ended the statement with this error.
        case function(LarderError)
        /// The statement is nested deeper than the database's parser follows.
        case nestedTooDeep
        /// The statement was stopped: by its budget, or by a function.
        case interrupted
        /// A UNIQUE index rejected a row.
        case uniquenessViolated
        case constraintViolated
        /// A value has the wrong type, or a parameter the wrong index.
        case mismatch
        /// A value or a statement is larger than the database's limit.
        case tooLarge
        /// Another connection has a lock that is needed.
        case busy
        case full
        /// A system call failed.
        case inputOutput
        case cannotOpen
        case permissionDenied
        case readOnly
        case corrupt
        case notADatabase
        case outOfMemory
        /// The file at the path is not the one that is open.
        case fileChanged(LarderError)
        /// The database was called wrongly, or reported a result that the store does not expect.
        case other
    }

    package var condition: Condition
    /// The database's message. It has names and SQL in it, but no bound value.
    package var message: String
    /// The statement, for the report of a bug.
    package var sql: String?
    /// `errno` of the failed system call, or 0.
    package var systemError: Int32 = 0

    package init(
        _ condition: Condition, _ message: String, sql: String? = nil, systemError: Int32 = 0
    ) {
        self.condition = condition
        self.message = message
        self.sql = sql
        self.systemError = systemError
    }

    /// A change of a file that the store found itself.
    package init(fileChanged change: LarderError) {
        self.init(.fileChanged(change), change.message)
    }

    /// Whether the error concerns its statement alone and says nothing about the storage.
    package var concernsStatementOnly: Bool {
        switch condition {
        case .statement, .function, .nestedTooDeep, .uniquenessViolated, .constraintViolated,
            .mismatch, .tooLarge:
            true
        case .interrupted, .busy, .full, .inputOutput, .cannotOpen, .permissionDenied, .readOnly,
            .corrupt, .notADatabase, .outOfMemory, .fileChanged, .other:
            false
        }
    }

    /// That a query is nested too deep; nil for other errors.
    package var queryLimit: LarderError? {
        guard condition == .nestedTooDeep else { return nil }
        return LarderError(
            .resourceExhausted, "the query is nested deeper than the database can follow",
            hint: "use fewer subqueries and functions inside each other")
    }

    /// The error of a query that a client wrote, if the query caused it.
    package var queryError: LarderError? {
        if case .function(let error) = condition { return error }
        return queryLimit
    }
}
