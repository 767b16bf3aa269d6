import FoundationEssentials
import LarderClient
import LarderModel

/// The data that every side stores. Each value is computed from the object's number, from 1.
enum School {
    /// - Parameter isYearIndexed: Whether `birthOfYear` has an index; in peers it has none.
    static func schema(isYearIndexed: Bool) -> String {
        """
        { "version": "1.0.0",
          "entities": [
            { "name": "Student",
              "attributes": [
                { "name": "name", "type": "string" },
                { "name": "birthOfYear", "type": "int64",
                  "indexed": \(isYearIndexed) },
                { "name": "score", "type": "double" } ],
              "relationships": [
                { "name": "articles", "destination": "Article", "toMany": true,
                  "inverse": "author" } ] },
            { "name": "Article",
              "attributes": [
                { "name": "title", "type": "string", "indexed": true },
                { "name": "summary", "type": "string" },
                { "name": "wordCount", "type": "int64", "indexed": true },
                { "name": "rating", "type": "int64" } ],
              "relationships": [
                { "name": "author", "destination": "Student", "inverse": "articles" },
                { "name": "category", "destination": "Category", "inverse": "articles" } ] },
            { "name": "Category",
              "attributes": [ { "name": "name", "type": "string", "unique": true } ],
              "relationships": [
                { "name": "articles", "destination": "Article", "toMany": true,
                  "inverse": "category" } ] } ] }
        """
    }

    static let categories = 20
    /// The properties that a read of a student requests, on each side.
    static let studentProperties = ["name", "birthOfYear", "score"]

    static func name(_ number: Int) -> String { "Student \(padded(number))" }
    static func birthOfYear(_ number: Int) -> Int64 { 1950 + Int64(number * 7_919 % 60) }
    static func score(_ number: Int) -> Double { Double(number % 1_000) / 2 }
    static func title(_ number: Int) -> String { "Article \(padded(number))" }
    static func summary(_ number: Int) -> String {
        "Über die Ordnung der Dinge, Heft \(padded(number * 7_919 % 10_000_000))"
    }
    static func wordCount(_ number: Int) -> Int64 { Int64(number * 7_919 % 10_000) }
    static func rating(_ number: Int) -> Int64 { Int64(number * 104_729 % 10_000) }
    static func category(_ number: Int) -> String { "Category \(number)" }

    static func student(_ number: Int) -> [String: Value] {
        [
            "name": .string(name(number)), "birthOfYear": .int(birthOfYear(number)),
            "score": .double(score(number)),
        ]
    }

    /// The values in the order of ``studentProperties``.
    static func row(_ number: Int) -> [Value] {
        [.string(name(number)), .int(birthOfYear(number)), .double(score(number))]
    }

    /// Commits a change that no result of a measure depends on, so that a result that is computed
    /// after it cannot come from a cache.
    static func commitUnrelatedChange(_ client: StoreClient) throws(LarderError) {
        let category = try client.insert("Category", ["name": .string(UUID().uuidString)])
        try client.delete(category)
    }

    /// The part of a checksum that a student adds; every peer computes the same.
    static func checksum(name: Int, birthOfYear: Int64, score: Double) -> Int64 {
        Int64(name) + birthOfYear + Int64(score * 2)
    }

    /// The number with seven digits.
    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 7 - digits.count)) + digits
    }
}

/// Fills a store, in change sets of some thousand changes.
struct Loader {
    static let changesPerSet = 5_000
    let client: StoreClient

    /// - Returns: the students' identifiers in the order of their numbers.
    @discardableResult
    func students(_ count: Int) throws -> [PersistentIdentifier] {
        try insert("Student", count) { School.student($0) }
    }

    /// Inserts categories, students (a tenth of the number of articles), and articles that refer to
    /// both.
    func articles(_ count: Int) throws {
        let categories = try insert("Category", School.categories) {
            ["name": .string(School.category($0))]
        }
        let students = try students(max(1, count / 10))
        try insert("Article", count) { number in
            [
                "title": .string(School.title(number)),
                "summary": .string(School.summary(number)),
                "wordCount": .int(School.wordCount(number)),
                "rating": .int(School.rating(number)),
                "author": .object(students[number % students.count]),
                "category": .object(categories[number % categories.count]),
            ]
        }
    }

    @discardableResult
    func insert(
        _ entityName: String, _ count: Int, _ values: (Int) -> [String: Value]
    ) throws -> [PersistentIdentifier] {
        var identifiers: [PersistentIdentifier] = []
        identifiers.reserveCapacity(count)
        for start in stride(from: 1, through: count, by: Self.changesPerSet) {
            let numbers = start...min(count, start + Self.changesPerSet - 1)
            let changes = numbers.map { number in
                Change.insert(
                    PersistentIdentifier(temporary: "t:\(number)", entityName: entityName),
                    values: values(number))
            }
            identifiers += try client.save(ChangeSet(changes)).inserted
        }
        return identifiers
    }
}
