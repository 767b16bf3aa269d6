import LarderSQL

/// The settings of a store's connections: of the writer and of the readers.
enum StoreConnection {
    /// SQLite's setting of the same name.
    enum Synchronous {
        case full
        case normal
        /// For a store in memory.
        case off

        fileprivate var sql: SQL {
            switch self {
            case .full: "FULL"
            case .normal: "NORMAL"
            case .off: "OFF"
            }
        }
    }

    private static let writerCacheKibibytes = 32 << 10
    private static let readerCacheKibibytes = 16 << 10
    private static let copyCacheKibibytes = 1 << 10
    private static let checkpointCacheKibibytes = 64
    /// The size of the WAL file after a complete checkpoint.
    private static let logBytesMax = 16 << 20

    static func open(_ path: String) throws(SQLError) -> Connection {
        let connection = try Connection(path: path, createIfMissing: false)
        try connection.registerCollation(name: "decimal") { left, right in
            DecimalText.compare(Span(_unsafeBytes: left), Span(_unsafeBytes: right))
        }
        try IndexFunctions.register(on: connection)
        return connection
    }

    /// The writer checkpoints by its own calls: see `WriterLog.swift`. Large selections of
    /// changes by predicate go to a temporary file.
    static func configureWriter(
        _ connection: Connection, synchronous: Synchronous
    ) throws(SQLError) {
        try connection.execute(
            """
            PRAGMA synchronous = \(synchronous.sql);
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA journal_size_limit = \(logBytesMax);
            PRAGMA foreign_keys = OFF;
            PRAGMA cache_size = -\(writerCacheKibibytes);
            """)
    }

    /// For the connections of the checkpointer, which read no pages into their caches.
    static func configureCheckpoints(
        _ connection: Connection, synchronous: Synchronous
    ) throws(SQLError) {
        try connection.execute(
            """
            PRAGMA query_only = ON;
            PRAGMA synchronous = \(synchronous.sql);
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA cache_size = -\(checkpointCacheKibibytes);
            """)
    }

    /// For the destination of a copy, which is empty and has no name. No page of it existed before,
    /// so the journal stays empty. The cache is small, because the last step writes all of it.
    static func configureCopy(_ connection: Connection) throws(SQLError) {
        try connection.execute(
            """
            PRAGMA synchronous = OFF;
            PRAGMA journal_mode = MEMORY;
            PRAGMA cache_size = -\(copyCacheKibibytes);
            """)
    }

    /// A large sort goes to a temporary file, so that memory stays bounded.
    static func configureReader(_ connection: Connection) throws(SQLError) {
        try connection.execute(
            """
            PRAGMA query_only = ON;
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA cache_size = -\(readerCacheKibibytes);
            """)
    }
}
