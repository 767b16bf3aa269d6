extension PostgresError.Condition {
    /// - Parameter sqlState: Five digits and letters: a code of the appendix of PostgreSQL's
    /// manual,
    ///   of which the first two are its class.
    init(sqlState: String) {
        self = Self.byCode[sqlState] ?? Self.byClass[String(sqlState.prefix(2))] ?? .other
    }

    private static let byCode: [String: PostgresError.Condition] = [
        "0A000": .statement,
        "22003": .outOfRange,
        "22021": .invalidText,
        "22P05": .invalidText,
        "23502": .notNullViolated,
        "23503": .foreignKeyViolated,
        "23505": .uniquenessViolated,
        "23514": .checkViolated,
        "25006": .readOnly,
        "25P02": .notRun,
        "3D000": .noSuchDatabase,
        "40001": .serializationFailed,
        "40P01": .serializationFailed,
        "42501": .permissionDenied,
        "42703": .schemaChanged,
        "42704": .schemaChanged,
        "42883": .schemaChanged,
        "42P01": .schemaChanged,
        "53100": .full,
        "53200": .outOfMemory,
        "53300": .tooManyConnections,
        "55P03": .cancelled,
        "57014": .cancelled,
        "57P01": .connectionLost,
        "57P02": .connectionLost,
        "57P03": .notReady,
        "57P04": .noSuchDatabase,
        "57P05": .connectionLost,
        "58030": .inputOutput,
    ]

    private static let byClass: [String: PostgresError.Condition] = [
        "08": .connectionLost,
        "22": .statement,
        "23": .checkViolated,
        "26": .statement,
        "28": .authenticationFailed,
        "3F": .schemaChanged,
        "42": .statement,
        "53": .outOfMemory,
        "54": .tooLarge,
        "58": .inputOutput,
        "XX": .corrupt,
    ]
}
