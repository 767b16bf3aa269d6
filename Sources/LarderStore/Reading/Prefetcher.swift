import LarderModel

/// Puts the objects that a fetch prefetches in front of the rows that refer to them.
///
/// Rows wait here while the objects behind each of their relationships are read, and those wait for
/// theirs. So one batch is held for each step of a key path, and each step takes one statement for
/// a batch in front of it, however many rows that has.
struct Prefetcher {
    private struct Level {
        let batch: Batch
        /// What is still to be read for the batch; the first is being read if there is a source.
        var pending: ArraySlice<PlanPrefetch>
        var source: BatchSource?
    }

    private let session: ReadSession
    private var levels: [Level] = []

    init(_ session: ReadSession) { self.session = session }

    /// Whether all rows have been given.
    var isEmpty: Bool { levels.isEmpty }

    /// Takes rows that were asked for, to give them back after the objects that they refer to.
    mutating func add(_ batch: Batch, _ prefetch: [PlanPrefetch]) {
        levels.append(Level(batch: batch, pending: prefetch[...]))
    }

    /// The next batch; only to be called while there is one.
    mutating func next(bytesMax: Int) throws(ReadFailure) -> Batch {
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
            batch.relatedBy = prefetch.keyPath
            add(batch, prefetch.query.prefetch)
        }
        guard let level = levels.popLast() else { preconditionFailure("there are rows to give") }
        return level.batch
    }

    mutating func close() {
        for level in levels.indices { levels[level].source?.close() }
        levels.removeAll()
    }

    /// Reads the objects that a batch refers to; nil if it refers to none.
    private func source(_ prefetch: PlanPrefetch, _ batch: Batch) -> BatchSource? {
        let keys = batch.columns[prefetch.column].objectKeys
        guard !keys.isEmpty else { return nil }
        return BatchSource(
            session, prefetch.query, [SQL(prefetch.text, [.keys(keys.sorted())])], isOwn: true)
    }
}

extension Column {
    /// The keys of all objects that it holds.
    fileprivate var objectKeys: Set<Int64> {
        switch storage {
        case .lists(let keys, _): Set(keys)
        case .integers(let keys): Set(keys.indices.lazy.filter { !isNull(at: $0) }.map { keys[$0] })
        case .doubles, .bytes: []
        }
    }
}
