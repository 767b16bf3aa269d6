import Foundation
import GRDB

/// Authors with books as records of GRDB, with the commands of `models`.
final class Author: FetchableRecord, PersistableRecord {
    static let databaseTableName = "author"
    static let books = hasMany(Book.self)

    let id: Int64
    let name: String

    init(number: Int) {
        id = Int64(number + 1)
        name = "Author \(number)"
    }

    init(row: Row) {
        id = row[0]
        name = row[1]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
    }
}

final class Book: FetchableRecord, PersistableRecord {
    static let databaseTableName = "book"

    let id: Int64
    var title: String
    var pages: Int
    var price: Double
    var published: Double
    var isRead: Bool
    var authorId: Int64?

    init(number: Int, author: Int64? = nil) {
        id = Int64(number + 1)
        title = "Book \(number)"
        pages = 100 + number % 400
        price = Double(number % 1_000) / 4
        published = Double(number) * 3_600
        isRead = number.isMultiple(of: 3)
        authorId = author
    }

    init(row: Row) {
        id = row[0]
        title = row[1]
        pages = row[2]
        price = row[3]
        published = row[4]
        isRead = row[5]
        authorId = row[6]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["title"] = title
        container["pages"] = pages
        container["price"] = price
        container["published"] = published
        container["isRead"] = isRead
        container["authorId"] = authorId
    }

    var checksum: Int64 {
        Int64(title.utf8.count) + Int64(pages) + Int64(price * 4) + Int64(published / 3_600)
            + (isRead ? 1 : 0)
    }
}

struct Shelf {
    let database: DatabaseQueue

    func answer(_ command: String, _ count: Int) throws -> (value: Double, checksum: Int64)? {
        switch command {
        case "load-shelf": try load(count)
        case "fetch": try fetch()
        case "properties": try properties()
        case "follow": try follow()
        case "insert": try insert(count)
        case "scans": try scans(count)
        case "memory": (Self.peakMebibytes, 0)
        case "change": try change(count)
        default: nil
        }
    }

    private func load(_ count: Int) throws -> (Double, Int64) {
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL,
                        pages INTEGER NOT NULL, price REAL NOT NULL, published REAL NOT NULL,
                        isRead INTEGER NOT NULL, authorId INTEGER REFERENCES author);
                    CREATE TABLE scan (id INTEGER PRIMARY KEY, image BLOB NOT NULL);
                    CREATE INDEX book_author ON book (authorId);
                    """)
            for number in 0..<count {
                let author = Author(number: number)
                try author.insert(database)
                for index in 0..<10 {
                    try Book(number: number * 10 + index, author: author.id).insert(database)
                }
            }
        }
        return (0, Int64(count))
    }

    private func fetch() throws -> (Double, Int64) {
        let start = ContinuousClock.now
        let books = try database.read { try Book.fetchAll($0) }
        return (microseconds(since: start), Int64(books.count))
    }

    private func properties() throws -> (Double, Int64) {
        let books = try database.read { try Book.fetchAll($0) }
        let start = ContinuousClock.now
        let checksum = books.reduce(Int64(0)) { $0 + $1.checksum }
        return (microseconds(since: start), checksum)
    }

    /// The books of all authors, with one query for both, as GRDB's guide recommends.
    private func follow() throws -> (Double, Int64) {
        struct Shelved: FetchableRecord {
            let author: Author
            let books: [Book]

            init(row: Row) throws {
                author = try Author(row: row)
                books = row["books"]
            }
        }
        let start = ContinuousClock.now
        var checksum: Int64 = 0
        let all = try database.read { database in
            try Author.including(all: Author.books.forKey("books"))
                .asRequest(of: Shelved.self).fetchAll(database)
        }
        for shelved in all {
            for book in shelved.books { checksum += Int64(book.pages) }
        }
        return (microseconds(since: start), checksum)
    }

    /// Inserts scans of a mebibyte each, which are made before, as models are.
    private func scans(_ count: Int) throws -> (Double, Int64) {
        let start = ContinuousClock.now
        let images = (1...max(1, count)).map { number in
            Data(repeating: UInt8(truncatingIfNeeded: number), count: 1 << 20)
        }
        try database.write { database in
            for image in images {
                try database.execute(
                    sql: "INSERT INTO scan (image) VALUES (?)", arguments: [image])
            }
        }
        let time = microseconds(since: start)
        let found = try database.write { database in
            let found = try Int64.fetchOne(database, sql: "SELECT count(*) FROM scan") ?? 0
            try database.execute(sql: "DELETE FROM scan")
            return found
        }
        return (time, found)
    }

    /// The most memory that this process has had at a time.
    private static var peakMebibytes: Double {
        var usage = rusage()
        getrusage(numericCast(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_maxrss) / 1_024
    }

    private func insert(_ count: Int) throws -> (Double, Int64) {
        let start = ContinuousClock.now
        try database.write { database in
            for number in 1...max(1, count) {
                try Book(number: 1_000_000 + number).insert(database)
            }
        }
        let time = microseconds(since: start)
        let added = Column("id") > 1_000_001
        let found = try database.write { try Book.filter(added).deleteAll($0) }
        return (time, Int64(found))
    }

    private func change(_ count: Int) throws -> (Double, Int64) {
        let books = try database.read { database in
            try Book.order(Column("id")).limit(count).fetchAll(database)
        }
        let start = ContinuousClock.now
        try database.write { database in
            for var book in books {
                try book.updateChanges(database) { $0.isRead.toggle() }
            }
        }
        return (microseconds(since: start), Int64(books.count))
    }

    private func microseconds(since start: ContinuousClock.Instant) -> Double {
        (ContinuousClock.now - start) / .microseconds(1)
    }
}
