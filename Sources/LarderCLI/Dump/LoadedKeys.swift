import LarderModel

/// The keys that the objects of a dump got in the store that loads it.
///
/// Objects of one entity have ascending keys in a dump and mostly consecutive ones in the store, so
/// the map consists of runs of objects whose keys differ by the same number. A run takes 24 bytes:
/// at worst, one for each object.
struct LoadedKeys {
    /// The maximum number of runs, some 480 MB.
    static let runsMax = 20_000_000

    private struct Run {
        let oldFirst: Int64
        let newFirst: Int64
        var count: Int64
    }

    private var runs: [String: [Run]] = [:]
    private var runCount = 0

    /// Adds an object that has not been added before.
    ///
    /// - Throws: `resourceExhausted` for too many runs.
    mutating func append(_ old: Int64, _ new: Int64, of entityName: String) throws(LarderError) {
        if let end = runs[entityName]?.indices.last, let last = runs[entityName]?[end],
            old - last.oldFirst == last.count, new - last.newFirst == last.count
        {
            runs[entityName]?[end].count += 1
            return
        }
        guard runCount < Self.runsMax else {
            throw LarderError(
                .resourceExhausted,
                "the keys of the dump have more than \(Self.runsMax) gaps",
                hint: "load the dump into a new store, and make a dump of that one")
        }
        runCount += 1
        // Waiting objects are stored later than those that follow them.
        let run = Run(oldFirst: old, newFirst: new, count: 1)
        let index = runs[entityName].map { Self.count(of: $0, upTo: old) } ?? 0
        runs[entityName, default: []].insert(run, at: index)
    }

    /// The key in the store; nil if the object is not stored.
    func key(for old: Int64, of entityName: String) -> Int64? {
        guard let runs = runs[entityName] else { return nil }
        let index = Self.count(of: runs, upTo: old)
        guard index > 0 else { return nil }
        let run = runs[index - 1]
        guard old - run.oldFirst < run.count else { return nil }
        return run.newFirst + (old - run.oldFirst)
    }

    /// The number of runs that begin at a key or before it.
    private static func count(of runs: [Run], upTo key: Int64) -> Int {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].oldFirst <= key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
