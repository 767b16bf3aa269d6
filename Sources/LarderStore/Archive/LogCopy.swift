import LarderModel

/// Copies the commits of the write-ahead log into segments, and knows where the last one ended.
///
/// A segment that cannot be finished changes nothing: its commits are still in the log, because the
/// writer checkpoints only what is in a finished segment.
struct LogCopy {
    let folder: ArchiveFolder
    private let log: LogFile
    private let tail: HistoryTail
    private let database: Connection
    /// The beginning of the next segment. `sequence` is the number of the last one.
    private(set) var header: ArchiveHeader
    private(set) var position: LogPosition
    /// The frame with the newest copy of each page, in the part of the log before the position.
    private var frames: [UInt32: Int] = [:]

    /// The frames of the commit that is being copied.
    private struct Commit {
        var frames: [UInt32: Int] = [:]
        var position: LogPosition
        var count = 0
    }

    /// - Parameters:
    ///   - header: The header of the next segment, but with the sequence number of the last one.
    ///   - position: The position after the last segment; `start` for the beginning of the log.
    init(
        to folder: ArchiveFolder, logPath: String, tail: HistoryTail, database: Connection,
        header: ArchiveHeader, position: LogPosition
    ) throws(LarderError) {
        self.folder = folder
        self.tail = tail
        self.database = database
        self.header = header
        self.position = position
        log = try LogFile(logPath)
        try findFrames()
    }

    /// Reads the log up to the position.
    private mutating func findFrames() throws(LarderError) {
        guard let current = try log.header(), current.salts == position.salts, position.frame > 0
        else { return }
        var found: [UInt32: Int] = [:]
        var last = current.start
        let end = position.frame
        try log.forEachFrame(after: current.start, current) { frame in
            found[frame.page] = frame.position.frame
            last = frame.position
            return last.frame < end
        }
        guard last == position else { throw Self.diverged }
        frames = found
    }

    private func moment(
        _ newest: [UInt32: Int], _ commit: Commit, _ current: LogFile.Header
    ) throws(LarderError) -> ArchiveMoment {
        try tail.moment { (page) throws(LarderError) in
            if let frame = commit.frames[page] ?? newest[page] {
                return try log.page(ofFrame: frame, current)
            }
            return try tail.page(page, in: database)
        }
    }

    /// Copies the commits after the position to a new segment.
    ///
    /// - Parameter frameMax: The number of frames in the log that are committed.
    /// - Returns: the segment; nil if there is no new commit.
    /// - Throws: `LogCopy.diverged` if the log does not continue at the position, and errors of the
    ///   folder's storage.
    mutating func makeSegment(upTo frameMax: Int) throws(LarderError) -> ArchiveFolder.Entry? {
        guard let current = try log.header() else { return nil }
        var newest = frames
        var start = position
        if current.salts != position.salts {
            // The log was restarted, after all of it had been copied.
            newest = [:]
            start = current.start
        }
        guard start.frame < frameMax else { return nil }
        var header = header
        header.sequence += 1
        var writer = try ArchiveFileWriter(
            header, creating: folder.path(of: ArchiveFolder.unfinishedSegment))
        var end = header.start
        var copied = start
        var commit = Commit(position: start)
        try log.forEachFrame(after: start, current) { (frame) throws(LarderError) in
            try writer.append(page: frame.page, frame.bytes)
            commit.frames[frame.page] = frame.position.frame
            commit.count += 1
            guard frame.isCommit else { return true }
            end = try moment(newest, commit, current)
            // Rows of the newest transaction are never deleted.
            guard end.transaction >= header.start.transaction else { throw Self.diverged }
            try writer.append(commit: end, databasePages: frame.databasePages)
            newest.merge(commit.frames) { $1 }
            copied = frame.position
            commit = Commit(position: copied)
            return copied.frame < frameMax
        }
        // The log is written by this process alone, so the frames that it has committed are there.
        guard copied.frame >= frameMax, commit.count == 0 else { throw Self.diverged }
        let (identity, _) = try writer.finish(end: end, copied)
        let entry = ArchiveFolder.Entry(
            kind: .segment, generation: header.generation, sequence: header.sequence,
            first: header.start.transaction + 1, last: end.transaction)
        try folder.rename(ArchiveFolder.unfinishedSegment, to: entry)
        header.previous = identity
        header.start = end
        self.header = header
        position = copied
        frames = newest
        return entry
    }

    static let diverged = LarderError(
        .storageFailed, "the write-ahead log does not continue where the archive ends")
}
