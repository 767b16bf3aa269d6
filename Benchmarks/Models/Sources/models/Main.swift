import Foundation
import SwiftData

/// Models of SwiftData over a store file, in this process or through the socket of the process that
/// has opened the file before. Answers commands with "value checksum"; times are in microseconds.
@main
struct Main {
    static func main() async throws {
        let container = try ModelContainer(
            for: Author.self, Book.self, Scan.self,
            configurations: ModelConfiguration(
                url: URL(filePath: CommandLine.arguments[1])))
        let watcher = Watcher(modelContainer: container)
        while let line = readLine() {
            let words = line.split(separator: " ")
            let count = words.count > 1 ? Int(words[1]) ?? 0 : 0
            let answer: Answer
            switch words[0] {
            case "watch":
                try await watcher.begin()
                answer = (0, 0)
            case "watched": answer = await watcher.result()
            default: answer = try Self.answer(String(words[0]), count, container)
            }
            print("\(answer.value) \(answer.checksum)")
            fflush(nil)
        }
    }

    typealias Answer = (value: Double, checksum: Int64)

    static func answer(
        _ command: String, _ count: Int, _ container: ModelContainer
    ) throws -> Answer {
        let context = ModelContext(container)
        return switch command {
        case "load": try load(context, count)
        case "fetch": try fetch(context)
        case "properties": try properties(context)
        case "follow": try follow(context)
        case "insert": try insert(context, count)
        case "scans": try scans(context, count)
        case "memory": (Self.peakMebibytes, 0)
        case "change": try change(context, count)
        case "read": try read(context, count)
        case "touch": try touch(context, count)
        default: throw CocoaError(.featureUnsupported)
        }
    }

    /// A number of authors with ten books each.
    static func load(_ context: ModelContext, _ count: Int) throws -> Answer {
        for number in 0..<count {
            let author = Author(number: number)
            context.insert(author)
            for index in 0..<10 {
                let book = Book(number: number * 10 + index)
                context.insert(book)
                book.author = author
            }
        }
        try context.save()
        return (0, Int64(count))
    }

    static func fetch(_ context: ModelContext) throws -> Answer {
        let start = ContinuousClock.now
        let books = try context.fetch(FetchDescriptor<Book>())
        return (microseconds(since: start), Int64(books.count))
    }

    static func properties(_ context: ModelContext) throws -> Answer {
        let books = try context.fetch(FetchDescriptor<Book>())
        let start = ContinuousClock.now
        let checksum = books.reduce(Int64(0)) { $0 + $1.checksum }
        return (microseconds(since: start), checksum)
    }

    static func follow(_ context: ModelContext) throws -> Answer {
        let start = ContinuousClock.now
        var checksum: Int64 = 0
        for author in try context.fetch(FetchDescriptor<Author>()) {
            for book in author.books { checksum += Int64(book.pages) }
        }
        return (microseconds(since: start), checksum)
    }

    /// Inserts books, and deletes them again outside of the measured time.
    static func insert(_ context: ModelContext, _ count: Int) throws -> Answer {
        let start = ContinuousClock.now
        for number in 1...max(1, count) { context.insert(Book(number: 1_000_000 + number)) }
        try context.save()
        let time = microseconds(since: start)
        let added = #Predicate<Book> { $0.number > 1_000_000 }
        let found = try context.fetchCount(FetchDescriptor(predicate: added))
        try context.delete(model: Book.self, where: added)
        try context.save()
        return (time, Int64(found))
    }

    /// Inserts scans of a mebibyte each, and deletes them again outside of the measured time.
    static func scans(_ context: ModelContext, _ count: Int) throws -> Answer {
        let start = ContinuousClock.now
        for number in 1...max(1, count) { context.insert(Scan(number: number)) }
        try context.save()
        let time = microseconds(since: start)
        let found = try context.fetchCount(FetchDescriptor<Scan>())
        try context.delete(model: Scan.self)
        try context.save()
        return (time, Int64(found))
    }

    /// The most memory that this process has had at a time.
    static var peakMebibytes: Double {
        var usage = rusage()
        getrusage(numericCast(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_maxrss) / 1_024
    }

    /// Changes one property of a number of books that were fetched.
    static func change(_ context: ModelContext, _ count: Int) throws -> Answer {
        var descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.number)])
        descriptor.fetchLimit = count
        let books = try context.fetch(descriptor)
        let start = ContinuousClock.now
        for book in books { book.isRead.toggle() }
        try context.save()
        return (microseconds(since: start), Int64(books.count))
    }

    /// Nanoseconds of one read of a property that was not changed.
    static func read(_ context: ModelContext, _ count: Int) throws -> Answer {
        guard let book = try context.fetch(FetchDescriptor<Book>.first).first else { return (0, 0) }
        var checksum: Int64 = 0
        let start = ContinuousClock.now
        for _ in 0..<count { checksum &+= Int64(truncatingIfNeeded: book.pages) }
        let time = microseconds(since: start) * 1_000 / Double(max(1, count))
        return (time, checksum)
    }

    /// Saves changes of one book, a few milliseconds apart, for those who watch it.
    ///
    /// - Returns: the median time of a save.
    static func touch(_ context: ModelContext, _ count: Int) throws -> Answer {
        guard let book = try context.fetch(FetchDescriptor<Book>.first).first else { return (0, 0) }
        var times: [Double] = []
        for _ in 0..<max(1, count) {
            Thread.sleep(forTimeInterval: 0.005)
            let start = ContinuousClock.now
            book.pages = nanoseconds
            try context.save()
            times.append(microseconds(since: start))
        }
        Thread.sleep(forTimeInterval: 0.05)
        book.pages = Watcher.end
        try context.save()
        return (times.sorted()[times.count / 2], Int64(count))
    }

    /// A time that all processes have in common.
    static var nanoseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    static func microseconds(since start: ContinuousClock.Instant) -> Double {
        (ContinuousClock.now - start) / .microseconds(1)
    }
}
