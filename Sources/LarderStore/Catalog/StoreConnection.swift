/// The settings of a store's connections, by what they are for.
enum StoreConnection {
    private static let writerCacheKibibytes = 32 << 10
    private static let readerCacheKibibytes = 16 << 10
    /// What remains of the log file after it has been moved into the store.
    private static let logBytesMax = 16 << 20

    /// - Parameter synchronous: That of the writer, to be configured later; nil for a reader.
    static func open(
        _ path: String, createIfMissing: Bool, synchronous: String? = nil
    ) throws(SQLiteError) -> Connection {
        let connection = try Connection(
            path: path, createIfMissing: createIfMissing, gathersLog: synchronous == "full")
        try connection.registerCollation(name: "decimal") { left, right in
            DecimalText.compare(left, right)
        }
        return connection
    }

    /// The log is moved into the file by the writer's own calls, see `Writer+Checkpoint.swift`.
    /// What changes by predicate set aside goes to a temporary file when it is much.
    static func configureWriter(
        _ connection: Connection, synchronous: String
    ) throws(SQLiteError) {
        try connection.execute(
            """
            PRAGMA synchronous = \(synchronous);
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA journal_size_limit = \(logBytesMax);
            PRAGMA foreign_keys = OFF;
            PRAGMA cache_size = -\(writerCacheKibibytes);
            """)
    }

    /// What a reader sorts goes to a temporary file when it is much: memory would be unbounded.
    static func configureReader(_ connection: Connection) throws(SQLiteError) {
        try connection.execute(
            """
            PRAGMA query_only = ON;
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA cache_size = -\(readerCacheKibibytes);
            """)
    }
}
