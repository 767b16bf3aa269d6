#if PostgreSQL
import Dispatch
import LarderPostgres
import Synchronization
import TestSupport
import Testing

@Suite(
    "The pool of connections to PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.notInstalled)))
struct ConnectionPoolTests {
    private func pool(_ count: Int, waiting: Int = 100) throws -> ConnectionPool {
        ConnectionPool(
            try PostgresServer.shared.get().address(), connectionsMax: count, waitingMax: waiting)
    }

    @Test("Many threads share the connections of a pool, of which there are never more")
    func bound() throws {
        let pool = try pool(3)
        let used = Mutex<(now: Int, most: Int, processes: Set<Int32>)>((0, 0, []))
        DispatchQueue.concurrentPerform(iterations: 40) { _ in
            try? pool.withConnection(deadline: .soon) { connection throws(PostgresError) in
                used.withLock {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                    $0.processes.insert(connection.serverProcess)
                }
                try connection.run("SELECT pg_sleep(0.001)")
                used.withLock { $0.now -= 1 }
            }
        }
        let result = used.withLock { $0 }
        #expect(result.now == 0)
        #expect((1...3).contains(result.most))
        #expect((1...3).contains(result.processes.count))
        #expect((1...3).contains(pool.idleCount))
        pool.closeIdle()
        #expect(pool.idleCount == 0)
    }

    @Test("A request for a connection waits until its deadline, and one too many fails at once")
    func waiting() throws {
        let pool = try pool(1, waiting: 1)
        let refused = try pool.withConnection(deadline: .soon) { _ in
            let waits = DispatchSemaphore(value: 0)
            let ended = DispatchSemaphore(value: 0)
            let condition = Mutex<PostgresError.Condition?>(nil)
            DispatchQueue.global().async {
                waits.signal()
                var error: PostgresError.Condition?
                // Refused while the other request is the one that waits.
                repeat {
                    error = Self.error(pool, .now + .seconds(2))
                } while error == .poolExhausted
                condition.withLock { $0 = error }
                ended.signal()
            }
            waits.wait()
            // The first waits by now, or this one does and ends at its deadline.
            let isRefused = eventually { Self.error(pool, .now) == .poolExhausted }
            ended.wait()
            #expect(condition.withLock { $0 } == .deadlinePassed)
            return isRefused
        }
        #expect(refused)
    }

    private static func error(
        _ pool: ConnectionPool, _ deadline: ContinuousClock.Instant
    ) -> PostgresError.Condition? {
        do {
            try pool.withConnection(deadline: deadline) { _ in }
            return nil
        } catch {
            return error.condition
        }
    }

    @Test("A connection that was lost, or that has an open transaction, is replaced")
    func replacement() throws {
        let pool = try pool(1)
        let other = try PostgresServer.connection()
        let process = try pool.withConnection(deadline: .soon) { $0.serverProcess }
        try other.run("SELECT pg_terminate_backend($1::integer)", .integer(Int64(process)))
        let text = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1"
        let hasEnded = try eventually {
            try other.run(text, .integer(Int64(process))).rows == [[.integer(0)]]
        }
        #expect(hasEnded)
        let second = try pool.withConnection(deadline: .soon) { connection throws(PostgresError) in
            try connection.run("BEGIN")
            return connection.serverProcess
        }
        #expect(second != process)
        let third = try pool.withConnection(deadline: .soon) { connection throws(PostgresError) in
            try connection.run("SELECT 1")
            return connection.serverProcess
        }
        #expect(third != second)
        #expect(try pool.withConnection(deadline: .soon) { $0.serverProcess } == third)
    }
}
#endif
