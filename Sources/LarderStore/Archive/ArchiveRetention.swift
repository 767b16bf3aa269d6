/// The rule that deletes old files of an archive.
///
/// A base and what follows it up to the next base belong together. They are deleted from the oldest
/// on, and never those from the last base on.
struct ArchiveRetention {
    struct File: Hashable {
        var entry: ArchiveFolder.Entry
        var byteCount: Int64
        /// For a base: the time of its last transaction, in seconds since 2001.
        var time: Double?
    }

    /// Bases that are older than this many seconds are not needed, except for the last of them.
    let ageMax: Double?
    let bytesMax: Int64?
    /// A base is made when the segments since the last one have as many bytes as that, and this
    /// many.
    var baseBytesMin: Int64 = 0

    /// The files to delete.
    ///
    /// - Parameters:
    ///   - files: All files, sorted.
    ///   - now: In seconds since 2001.
    ///   - isNeeded: Whether a file must not be deleted yet.
    func deletions(
        _ files: [File], at now: Double, isNeeded: (ArchiveFolder.Entry) -> Bool
    ) -> [ArchiveFolder.Entry] {
        let bases = files.indices.filter { files[$0].entry.kind == .base }
        guard let first = bases.first else { return [] }
        // Segments before the first base cannot be used.
        var end = first
        var byteCount = files.dropFirst(first).reduce(0) { $0 + $1.byteCount }
        for (base, next) in zip(bases, bases.dropFirst()) {
            let isOld = ageMax.map { age in files[next].time.map { $0 <= now - age } ?? false }
            let isOverLimit = bytesMax.map { byteCount > $0 }
            guard isOld ?? false || isOverLimit ?? false else { break }
            byteCount -= files[base..<next].reduce(0) { $0 + $1.byteCount }
            end = next
        }
        let deleted = files[..<end].map(\.entry)
        return Array(deleted.prefix { !isNeeded($0) })
    }

    /// Whether a new base should be made.
    func needsBase(_ files: [File], at now: Double) -> Bool {
        guard let base = files.lastIndex(where: { $0.entry.kind == .base }),
            base + 1 < files.count,
            files.dropFirst(base + 1).allSatisfy({
                $0.entry.generation == files[base].entry.generation
            })
        else { return false }
        let byteCount = files.dropFirst(base + 1).reduce(0) { $0 + $1.byteCount }
        if byteCount >= max(baseBytesMin, files[base].byteCount) { return true }
        guard let ageMax, let time = files[base].time else { return false }
        return time <= now - ageMax / 2
    }
}
