internal import CoreData
public import Foundation
public import SwiftData
internal import SwiftDataKit

/// Works with a context of its own. The context belongs to the actor, so that the requests of Core
/// Data need no `perform`.
@ModelActor
public actor Librarian {
    /// Adds readers whose years of birth repeat, if there are none.
    public func addReaders(_ count: Int) throws {
        guard try modelContext.fetchCount(FetchDescriptor<Reader>()) == 0 else { return }
        for number in 0..<count {
            modelContext.insert(
                Reader(name: "reader \(number)", birthOfYear: 1_940 + number * 7 % 64))
        }
        try modelContext.save()
    }

    public func readersByYear() throws -> [YearCount] { try modelContext.readersByYear() }

    public func fetchedReadersByYear() throws -> [YearCount] {
        try modelContext.fetchedReadersByYear()
    }

    /// The names of the collections with an article of the category that a URI names.
    public func collectionNames(withCategoryAt uri: URL) throws -> [String] {
        guard let category = try modelContext.category(at: uri) else { return [] }
        return try modelContext.collections(with: category).map(\.name)
    }

    /// How many objects the context has read and still has, by what it has fetched.
    public func objectCounts() throws -> (grouped: Int, fetched: Int) {
        guard let objects = modelContext.managedObjectContext else { return (0, 0) }
        _ = try modelContext.readersByYear()
        let grouped = objects.registeredObjects.count
        let readers = try modelContext.fetch(FetchDescriptor<Reader>())
        return (grouped, withExtendedLifetime(readers) { objects.registeredObjects.count })
    }
}
