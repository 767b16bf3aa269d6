#if PostgreSQL
import Glibc
import LarderModel
import LarderSQL

/// The writer's second connection: it assigns keys, and orders the transactions of the history.
///
/// It has no transaction that lasts longer than one call, so it sees what other writers have
/// committed meanwhile. The writer's own transaction does not.
final class PostgresSequencer {
    private let store: PostgresStore
    private var connection: PostgresConnection?

    private static let timeMax = Duration.seconds(600)
    /// The first numbers of advisory locks; the second one is that of the store's schema.
    private static let historyLock: Int64 = 1_281_455_717
    private static let keyLock: Int64 = 1_281_455_718

    init(_ store: PostgresStore) { self.store = store }

    // MARK: - Keys

    /// Takes keys that follow each other from the sequence of a table, at least this many. No other
    /// writer ever gets one of them.
    func takeKeys(_ count: Int64, of table: String) throws(PostgresError) -> ClosedRange<Int64> {
        let blockSize = PostgresTable.keysAtOnce
        let added = (max(1, count) - 1) / blockSize * blockSize
        let sequence = PostgresName.shortened("\(table).\(Layout.keyColumn)")
        // The lock is held until the end of the pipeline. Without it, another writer could take
        // keys between the two functions, and `setval` would give them a second time.
        let results = try run([
            PostgresStatement(
                "SELECT pg_advisory_xact_lock(\(Self.keyLock), pg_catalog.hashtext($1))",
                [.text(store.options.schemaName)]),
            PostgresStatement(
                "SELECT setval(s.name, nextval(s.name) + $2) - $2 "
                    + "FROM (SELECT CAST(pg_catalog.quote_ident($1) AS regclass) AS name) AS s",
                [.text(sequence), .integer(added)]),
        ])
        guard case .integer(let first)? = results[1].rows.first?.first else {
            throw PostgresError(.unexpectedReply, "a sequence has no next number")
        }
        return first...first + added + blockSize - 1
    }

    // MARK: - The history

    /// Waits until no other writer commits, and keeps others from it until ``unlockHistory()``.
    ///
    /// - Returns: The number of the last transaction.
    func lockHistory() throws(PostgresError) -> Int64 {
        let results = try run([
            PostgresStatement(
                "SELECT pg_advisory_lock(\(Self.historyLock), pg_catalog.hashtext($1))",
                [.text(store.options.schemaName)]),
            PostgresStatement(Layout.lastTransaction),
        ])
        if case .integer(let number)? = results[1].rows.first?.first { return number }
        return 0
    }

    /// The end of a connection unlocks too.
    func unlockHistory() {
        let unlock = PostgresStatement(
            "SELECT pg_advisory_unlock(\(Self.historyLock), pg_catalog.hashtext($1))",
            [.text(store.options.schemaName)])
        do throws(PostgresError) { _ = try run([unlock]) } catch { connection = nil }
    }

    // MARK: - Lost commits

    /// How long the database may take until it can be reached again.
    private static let reconnectionTimeMax = Duration.seconds(60)
    private static let pauseNanoseconds = 100_000_000

    /// Whether a transaction has been committed whose connection was lost during its COMMIT.
    ///
    /// - Parameter search: Finds a row that the transaction has inserted.
    func isCommitted(
        _ process: PostgresProcess, _ search: PostgresStatement
    ) throws(PostgresError) -> Bool {
        let deadline = ContinuousClock.now + Self.reconnectionTimeMax
        while true {
            do throws(PostgresError) {
                // Until its process has ended, the transaction may still commit.
                while try !run([process.termination])[0].rows.isEmpty {
                    guard ContinuousClock.now < deadline else {
                        throw PostgresError(.deadlinePassed, "the old connection does not end")
                    }
                }
                return try !run([search])[0].rows.isEmpty
            } catch {
                guard error.mayEnd, ContinuousClock.now < deadline else { throw error }
                var pause = timespec(tv_sec: 0, tv_nsec: Self.pauseNanoseconds)
                nanosleep(&pause, nil)
            }
        }
    }

    func close() { connection = nil }

    private func run(_ statements: [PostgresStatement]) throws(PostgresError) -> [PostgresRows] {
        do throws(PostgresError) {
            let connection = try openConnection()
            var rows: [PostgresRows] = []
            for result in try connection.run(statements, deadline: .now + Self.timeMax) {
                rows.append(try result.get())
            }
            return rows
        } catch {
            // It may have a lock.
            connection = nil
            throw error
        }
    }

    private func openConnection() throws(PostgresError) -> PostgresConnection {
        if let connection, connection.isSilent() { return connection }
        let deadline = ContinuousClock.now + Self.timeMax
        let opened = try store.openConnection(deadline: deadline)
        try opened.run(
            PostgresStatement("SET default_transaction_isolation = 'read committed'"),
            deadline: deadline)
        connection = opened
        return opened
    }
}

/// A process of the server. Another one may get its number later.
struct PostgresProcess {
    private let number: Int64
    private let start: PostgresValue

    /// That of a connection.
    init(
        _ connection: PostgresConnection, deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        let rows = try connection.run(
            PostgresStatement(
                "SELECT CAST(pid AS bigint), backend_start FROM pg_stat_activity "
                    + "WHERE pid = pg_backend_pid()"), deadline: deadline
        ).rows
        guard case .integer(let number)? = rows.first?.first, let start = rows.first?.last else {
            throw PostgresError(.unexpectedReply, "the connection has no process")
        }
        (self.number, self.start) = (number, start)
    }

    /// Ends it, and waits for some seconds. The statement has a row until it has ended.
    var termination: PostgresStatement {
        PostgresStatement(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                + "WHERE pid = $1 AND backend_start = $2", [.integer(number), start])
    }
}

extension PostgresError {
    /// Whether it may be over soon: the server restarts, for example.
    fileprivate var mayEnd: Bool {
        switch condition {
        case .connectionLost, .cannotConnect, .notReady, .tooManyConnections: true
        default: false
        }
    }
}
#endif
