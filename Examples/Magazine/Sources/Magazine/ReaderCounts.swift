internal import CoreData
public import SwiftData
internal import SwiftDataKit

/// The readers who were born in a year.
public struct YearCount: Equatable, Sendable {
    public var year: Int
    public var readers: Int

    public init(year: Int, readers: Int) {
        self.year = year
        self.readers = readers
    }
}

// The number of readers by their year of birth, in two ways.

extension ModelContext {
    /// The store groups and counts: a row for each year is read, and no reader.
    public func readersByYear() throws -> [YearCount] {
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Reader")
        request.propertiesToGroupBy = ["birthOfYear"]
        request.sortDescriptors = [NSSortDescriptor(key: "birthOfYear", ascending: true)]
        request.resultType = .dictionaryResultType
        let count = NSExpressionDescription()
        count.name = "count"
        count.resultType = .integer64
        count.expression = NSExpression(
            forFunction: "count:", arguments: [NSExpression(forKeyPath: "birthOfYear")])
        request.propertiesToFetch = ["birthOfYear", count]
        let rows = try managedObjectContext?.fetch(request) as? [[String: Any]] ?? []
        return rows.compactMap { row in
            guard let year = row["birthOfYear"] as? Int, let readers = row["count"] as? Int else {
                return nil
            }
            return YearCount(year: year, readers: readers)
        }
    }

    /// The program groups and counts: every reader is read.
    public func fetchedReadersByYear() throws -> [YearCount] {
        let readers = try fetch(FetchDescriptor<Reader>())
        return Dictionary(grouping: readers, by: \.birthOfYear)
            .map { YearCount(year: $0.key, readers: $0.value.count) }
            .sorted { $0.year < $1.year }
    }
}
