internal import LarderObjects
public import SwiftData

extension ModelContext {
    /// Calls a closure in which every read of the context sees one state of the store, whatever is
    /// saved meanwhile: fetches, counts, aggregates, and relationships that are read for the first
    /// time. It runs on the actor of the context.
    ///
    ///     let (count, first) = try context.snapshot {
    ///         (try context.fetchCount(all), try context.fetch(page))
    ///     }
    ///
    /// Pending changes are shown as always. The models remain those of the context; what others
    /// have saved meanwhile is applied after the closure. A snapshot in a snapshot is the same one.
    /// A container with several stores has a state of each.
    ///
    /// - Throws: what the closure throws. `save` and `update` throw in it. A server keeps a
    ///   snapshot for 30 seconds unless it is started with another time limit; a read after that
    ///   throws.
    ///   Stores that others write have no snapshots.
    public func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        // Observers that have fetched in the closure have not seen what was saved meanwhile.
        defer { announceChange() }
        return try objects.snapshot(body)
    }
}
