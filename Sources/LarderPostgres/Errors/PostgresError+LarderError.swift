import LarderModel

extension PostgresError {
    /// The error that callers of the store see. A rule of the schema is reported before PostgreSQL
    /// finds its violation, so a violation that arrives here is an error of the database.
    package var larderError: LarderError {
        switch condition {
        case .malformedAddress:
            LarderError(
                .malformedValue, "the address of the database is malformed: \(message)",
                hint: "write postgresql://USER@HOST:PORT/DATABASE, with @, / and : in a name or a "
                    + "password as %40, %2F and %3A")
        case .cannotConnect, .connectionLost:
            LarderError(
                .unavailable, "the database cannot be reached: \(message)",
                hint: "check that PostgreSQL runs there, and try again")
        case .notReady, .tooManyConnections:
            LarderError(.unavailable, "the database is not ready: \(message)", hint: "try again")
        case .poolExhausted:
            LarderError(.unavailable, message, hint: "try again, or use more connections")
        case .authenticationFailed, .permissionDenied:
            LarderError(
                .permissionDenied, "the database refused: \(message)",
                hint: "check the user, the password file and the privileges of the user")
        case .noSuchDatabase:
            LarderError(.notAStore, message, hint: "create it with createdb, as its owner")
        case .serverTooOld, .wrongEncoding: LarderError(.unsupported, message)
        case .deadlinePassed: LarderError(.timeout, message)
        case .cancelled: LarderError(.cancelled, "the request was stopped: \(message)")
        case .serializationFailed:
            LarderError(
                .unavailable, "other transactions changed the same objects", hint: "try again")
        case .full: .databaseFull
        case .outOfMemory, .tooLarge:
            LarderError(.resourceExhausted, "the database needs more than it allows: \(message)")
        case .readOnly: LarderError(.readOnly, "the database cannot be written: \(message)")
        case .invalidText:
            LarderError(
                .unsupported, "a text has a character that PostgreSQL does not store: \(message)",
                hint: "remove U+0000 from the text")
        case .schemaChanged:
            LarderError(
                .storageFailed, "the tables are not those of the store: \(message)",
                hint: "undo the change that was made to them by other means")
        case .corrupt, .inputOutput:
            LarderError(.storageFailed, "the database failed: \(message)")
        case .outOfRange:
            LarderError(.arithmeticOverflow, "a number is outside of its type: \(message)")
        case .notRun, .uniquenessViolated, .foreignKeyViolated, .checkViolated, .notNullViolated,
            .malformedValue, .statement, .unexpectedReply, .other:
            LarderError(
                .storageFailed,
                "the database failed: \(message)\(sqlState.isEmpty ? "" : " (\(sqlState))")")
        }
    }
}

extension LarderError {
    /// - Parameter part: What stores in SQLite have, as a noun.
    static func missing(_ part: String) -> LarderError {
        LarderError(.unsupported, "a store in PostgreSQL does not have \(part) yet")
    }

    static let databaseFull = LarderError(
        .storageFull, "there is no room left for the database",
        hint: "free space at its server; then try again")
}
