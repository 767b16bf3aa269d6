import FoundationEssentials
import LarderModel

/// The contents of an archive, for an administrator.
package struct ArchiveContents {
    /// The files that were made without a gap.
    package struct Generation: Hashable, Sendable {
        package var number: Int64
        /// The states to which the store can be restored; nil until the first base is complete.
        package var transactions: ClosedRange<Int64>?
        /// The times of these two transactions; nil for a transaction 0.
        package var firstTime: Date?
        package var lastTime: Date?
        package var baseCount: Int
        package var segmentCount: Int
        package var byteCount: Int64
    }

    package var generations: [Generation]

    /// Reads the names of the files and their ends, but does not verify them.
    ///
    /// - Throws: `storageFailed` or `permissionDenied` if the folder or a file cannot be read.
    package init(of path: String) throws(LarderError) {
        let folder = ArchiveFolder(path: path)
        generations = []
        for generation in ArchiveGeneration.all(try folder.entries()) {
            let entries = (generation.bases + generation.segments).sorted()
            var summary = Generation(
                number: generation.number, transactions: generation.transactions,
                baseCount: generation.bases.count, segmentCount: generation.segments.count,
                byteCount: folder.byteCount(of: entries))
            if let first = generation.bases.first, let last = entries.last {
                let start = try ArchiveFileReader(folder.path(of: first)).header.start
                let end = try ArchiveFileReader.unverifiedEnd(folder.path(of: last))?.trailer.end
                summary.firstTime = Self.time(start)
                summary.lastTime = end.flatMap(Self.time)
            }
            generations.append(summary)
        }
    }

    private static func time(_ moment: ArchiveMoment) -> Date? {
        guard moment.transaction > 0, moment.time.isFinite else { return nil }
        return Date(timeIntervalSinceReferenceDate: moment.time)
    }

    /// Reads and verifies every file from the first base of each generation on.
    ///
    /// - Parameter onProgress: Called often, with the bytes that were read and those of all files
    ///   that are read.
    /// - Returns: one error per file that is damaged, missing or does not belong to the others.
    /// - Throws: errors of the folder.
    package static func check(
        _ path: String, onProgress: (_ read: Int64, _ total: Int64) -> Void = { _, _ in }
    ) throws(LarderError) -> [LarderError] {
        let folder = ArchiveFolder(path: path)
        let parts = ArchiveGeneration.all(try folder.entries()).flatMap(\.parts)
        let byteCounts = parts.map { folder.byteCount(of: [$0.base] + $0.segments) }
        let total = byteCounts.reduce(0, +)
        var problems: [LarderError] = []
        var start: Int64 = 0
        for (part, byteCount) in zip(parts, byteCounts) {
            var read = start
            do throws(LarderError) {
                try check(part, folder) { record in
                    read += Int64(record.byteCount)
                    onProgress(read, total)
                }
            } catch {
                problems.append(error)
            }
            // The files after a damaged one are not read.
            start += byteCount
        }
        return problems
    }

    private static func check(
        _ part: ArchiveGeneration.Part, _ folder: ArchiveFolder,
        _ isRead: (ArchiveFileReader.Record) -> Void
    ) throws(LarderError) {
        func read(_ record: ArchiveFileReader.Record) -> Bool {
            isRead(record)
            return true
        }
        var chain = try ArchiveChain(folder, base: part.base)
        try chain.readBase(part.base, read)
        for segment in part.segments { try chain.readNext(segment, read) }
        if let next = part.nextBase { try checkEnd(of: chain, next, folder) }
    }

    /// Checks that the segments lead to the next base.
    private static func checkEnd(
        of chain: ArchiveChain, _ base: ArchiveFolder.Entry, _ folder: ArchiveFolder
    ) throws(LarderError) {
        let header = try ArchiveFileReader(folder.path(of: base)).header
        guard chain.sequence < base.sequence else {
            guard header.previous == chain.identity else {
                throw LarderError(
                    .storageFailed,
                    "\(folder.path(of: base)) is not the base after the segments before it")
            }
            return
        }
        throw LarderError(
            .storageFailed,
            "segment \(chain.sequence + 1) of generation \(base.generation) is missing in "
                + "\(folder.path), before \(base.name)",
            hint: "put the file back; without it, states between transaction "
                + "\(chain.end.transaction) and \(base.last) cannot be restored")
    }
}
