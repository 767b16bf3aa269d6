import LarderModel
import LarderQuery

/// Reads the objects to which the rows of a batch refer.
package protocol PrefetchSource {
    associatedtype Session

    /// - Parameter keys: Those of the objects, ascending; at least one.
    init(_ session: Session, _ prefetch: PlanPrefetch, _ keys: [Int64])

    /// The next rows, at least one if there is one; `isLast` once none follow.
    mutating func next(bytesMax: Int) throws(ReadFailure) -> (batch: Batch, isLast: Bool)

    /// Ends the running statement.
    mutating func close()
}

/// Returns prefetched objects before the rows that refer to them.
///
/// A batch of rows waits until the destinations of its relationships have been read, and these
/// until theirs have been. So there is one batch per step of a key path, and one statement per step
/// and batch of the step before, whatever the number of its rows.
package struct Prefetcher<Source: PrefetchSource> {
    private struct Level {
        let batch: Batch
        /// The prefetches that are not complete. The source, if there is one, reads the first.
        var pending: ArraySlice<PlanPrefetch>
        var source: Source?
    }

    private let session: Source.Session
    private var levels: [Level] = []

    package init(_ session: Source.Session) { self.session = session }

    /// Whether all rows have been returned.
    package var isEmpty: Bool { levels.isEmpty }

    /// Adds rows, which are returned after the objects to which they refer.
    package mutating func add(_ batch: Batch, _ prefetch: [PlanPrefetch]) {
        levels.append(Level(batch: batch, pending: prefetch[...]))
    }

    /// The next batch. There must be one.
    package mutating func next(bytesMax: Int) throws(ReadFailure) -> Batch {
        while let level = levels.indices.last, let prefetch = levels[level].pending.first {
            if levels[level].source == nil {
                levels[level].source = source(prefetch, levels[level].batch)
            }
            guard let next = try levels[level].source?.next(bytesMax: bytesMax) else {
                levels[level].pending.removeFirst()
                continue
            }
            if next.isLast {
                levels[level].source?.close()
                levels[level].source = nil
                levels[level].pending.removeFirst()
            }
            guard next.batch.rowCount > 0 else { continue }
            var batch = next.batch
            batch.prefetchPath = prefetch.keyPath
            add(batch, prefetch.query.prefetch)
        }
        guard let level = levels.popLast() else { preconditionFailure("there are rows") }
        return level.batch
    }

    package mutating func close() {
        for level in levels.indices { levels[level].source?.close() }
        levels.removeAll()
    }

    /// A source of the objects to which a batch refers; nil if it refers to none.
    private func source(_ prefetch: PlanPrefetch, _ batch: Batch) -> Source? {
        let keys = batch.columns[prefetch.column].objectKeys
        return keys.isEmpty ? nil : Source(session, prefetch, keys.sorted())
    }
}

extension Column {
    /// The keys of all objects in it.
    fileprivate var objectKeys: Set<Int64> {
        switch storage {
        case .lists(let keys, _): Set(keys)
        case .integers(let keys): Set(keys.indices.lazy.filter { !isNull(at: $0) }.map { keys[$0] })
        case .doubles, .bytes: []
        }
    }
}
