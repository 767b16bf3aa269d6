import Foundation
import GRDBSQLite

/// The students in SQLite, read with one prepared statement.
///
/// Protected by its lock.
final class Students: @unchecked Sendable {
    private let lock = NSLock()
    private var database: OpaquePointer?
    private var statement: OpaquePointer?

    init(path: String) {
        sqlite3_open(path, &database)
        sqlite3_exec(database, "PRAGMA locking_mode = EXCLUSIVE", nil, nil, nil)
        sqlite3_prepare_v2(
            database, "SELECT name, birthOfYear, score FROM student WHERE id = ?", -1, &statement,
            nil)
    }

    func student(_ key: Int64) -> Bench_Student? {
        lock.withLock {
            sqlite3_bind_int64(statement, 1, key)
            defer { sqlite3_reset(statement) }
            guard sqlite3_step(statement) == SQLITE_ROW,
                let name = sqlite3_column_text(statement, 0)
            else { return nil }
            return .with {
                $0.name = String(cString: name)
                $0.birthOfYear = sqlite3_column_int64(statement, 1)
                $0.score = sqlite3_column_double(statement, 2)
            }
        }
    }

    static func create(at path: String, _ count: Int) {
        var database: OpaquePointer?
        sqlite3_open(path, &database)
        defer { sqlite3_close(database) }
        sqlite3_exec(
            database,
            """
            CREATE TABLE student (
                id INTEGER PRIMARY KEY, name TEXT, birthOfYear INTEGER, score REAL);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO student
                SELECT i, printf('Student %07d', i), 1950 + i * 7919 % 60, (i % 1000) / 2.0 FROM n;
            """, nil, nil, nil)
    }
}
