import Foundation
import GRDB

/// GRDB in process. Answers `load COUNT` and `scan`, and the commands of `Shelf`.
@main
struct Main {
    struct Student: FetchableRecord, Decodable {
        var name: String
        var birthOfYear: Int64
        var score: Double

        /// By column index, as GRDB's guide recommends where speed matters.
        init(row: Row) {
            name = row[0]
            birthOfYear = row[1]
            score = row[2]
        }
    }

    static func main() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        }
        let database = try DatabaseQueue(
            path: CommandLine.arguments[1], configuration: configuration)
        let shelf = Shelf(database: database)
        while let line = readLine() {
            let words = line.split(separator: " ")
            let count = words.count > 1 ? Int(words[1]) ?? 0 : 0
            let answer =
                try shelf.answer(String(words[0]), count)
                ?? (words[0] == "load" ? try load(database, count) : try scan(database))
            print("\(answer.value) \(answer.checksum)")
            fflush(nil)
        }
    }

    static func load(
        _ database: DatabaseQueue, _ count: Int
    ) throws -> (value: Double, checksum: Int64) {
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE student (
                        id INTEGER PRIMARY KEY, name TEXT, birthOfYear INTEGER, score REAL)
                    """)
            for number in 1...max(1, count) {
                try database.execute(
                    sql: "INSERT INTO student VALUES (?, ?, ?, ?)",
                    arguments: [
                        number, String(format: "Student %07d", number),
                        1950 + number * 7_919 % 60, Double(number % 1_000) / 2,
                    ])
            }
        }
        return (0, Int64(count))
    }

    static func scan(_ database: DatabaseQueue) throws -> (value: Double, checksum: Int64) {
        let start = ContinuousClock.now
        let students = try database.read {
            try Student.fetchAll($0, sql: "SELECT name, birthOfYear, score FROM student")
        }
        let time = (ContinuousClock.now - start) / .microseconds(1)
        let checksum = students.reduce(Int64(0)) {
            $0 + Int64($1.name.utf8.count) + $1.birthOfYear + Int64($1.score * 2)
        }
        return (time, checksum)
    }
}
