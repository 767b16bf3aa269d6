import FoundationEssentials
import LarderModel

/// Decides, when a store is opened, whether its archive continues.
///
/// It continues if the archive has every commit except those that are in the log now. The catalog
/// names the generation, and loses the name with the first commit that is made without an archive.
/// The log continues at the end of the last segment, or was restarted after it, or the file has not
/// changed since the store was closed.
struct ArchiveStart {
    let folder: ArchiveFolder
    /// The files of the folder, sorted.
    let entries: [ArchiveFolder.Entry]
    /// Where the archive continues; nil if a new generation has to begin.
    let continuation: (header: ArchiveHeader, position: LogPosition)?
    /// Why a new generation begins, for the log.
    let reason: String
    /// The frames of the log that are committed.
    let frameCount: Int

    /// A log that was restarted has a greater number in its header. Two restarts without a commit
    /// in between are possible.
    private static let restartsMax: UInt32 = 16

    /// - Parameter catalogIdentity: The generation that the catalog names; nil for none.
    /// - Throws: `foreignIdentifier` if the folder has the archive of another store.
    init(
        _ folder: ArchiveFolder, store: UUID, epoch: Int64, catalogIdentity: UInt64?,
        path: String, logPath: String
    ) throws(LarderError) {
        self.folder = folder
        let entries = try folder.entries()
        self.entries = entries
        let log = try LogFile(logPath)
        let header = try log.header()
        frameCount =
            try header.map { (header) throws(LarderError) in
                try Self.committedFrames(log, header)
            } ?? 0
        guard let newest = entries.last else {
            continuation = nil
            reason = "the archive is empty"
            return
        }
        let state: (header: ArchiveHeader, position: LogPosition, identity: UInt64)
        do throws(LarderError) {
            state = try Self.state(folder, newest)
        } catch {
            continuation = nil
            reason = error.message
            return
        }
        guard state.header.store == store else {
            throw LarderError(
                .foreignIdentifier,
                "\(folder.path) has the archive of store \(state.header.store.uuidString)",
                hint: "give each store a folder of its own (--archive)")
        }
        let generation = entries.filter { $0.generation == newest.generation }
        func refuse(_ text: String) -> (ArchiveHeader, LogPosition)? {
            problem = text
            return nil
        }
        var problem = ""
        func find() throws(LarderError) -> (ArchiveHeader, LogPosition)? {
            guard state.header.epoch == epoch else { return refuse("the store was restored") }
            guard generation.contains(where: { $0.kind == .base }) else {
                return refuse("the last generation has no base")
            }
            guard state.header.generationIdentity == catalogIdentity else {
                return refuse("the store was changed without the archive")
            }
            if let closed = ClosedStore(path),
                Self.closedText(folder) == closed.text(state.identity)
            {
                return (state.header, .start)
            }
            guard let header else { return refuse("the log of the last run is missing") }
            if header.salts == state.position.salts {
                let isThere = try Self.has(state.position, log, header)
                return isThere
                    ? (state.header, state.position)
                    : refuse("the log differs from what was archived")
            }
            let restarts = UInt32(header.salts >> 32) &- UInt32(state.position.salts >> 32)
            guard state.position.salts != 0, (1...Self.restartsMax).contains(restarts) else {
                return refuse("the log was checkpointed without the archive")
            }
            return (state.header, state.position)
        }
        continuation = try find()
        reason = problem
    }

    /// The state of the archive: the header for the next segment, and the end of the last one.
    private static func state(
        _ folder: ArchiveFolder, _ entry: ArchiveFolder.Entry
    ) throws(LarderError) -> (header: ArchiveHeader, position: LogPosition, identity: UInt64) {
        let path = folder.path(of: entry)
        var header = try ArchiveFileReader(path).header
        guard let end = try ArchiveFileReader.unverifiedEnd(path) else {
            throw ArchiveFileReader.damaged(path, "it has no end")
        }
        if entry.kind == .segment { header.previous = end.identity }
        header.kind = .segment
        header.start = end.trailer.end
        return (header, end.trailer.position, header.previous)
    }

    private static func committedFrames(
        _ log: LogFile, _ header: LogFile.Header
    ) throws(LarderError) -> Int {
        var count = 0
        try log.forEachFrame(after: header.start, header) { frame in
            if frame.isCommit { count = frame.position.frame }
            return true
        }
        return count
    }

    private static func has(
        _ position: LogPosition, _ log: LogFile, _ header: LogFile.Header
    ) throws(LarderError) -> Bool {
        guard position.frame > 0 else { return true }
        var last = header.start
        try log.forEachFrame(after: header.start, header) { frame in
            last = frame.position
            return last.frame < position.frame
        }
        return last == position
    }

    private static func closedText(_ folder: ArchiveFolder) -> String? {
        guard let file = try? RawFile(reading: folder.path(of: ArchiveFolder.closedName)),
            let bytes = try? file.read(at: 0, 256)
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
