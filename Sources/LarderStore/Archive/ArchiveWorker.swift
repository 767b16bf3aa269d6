import Dispatch
import FoundationEssentials
import Glibc
import LarderModel

/// The thread of an archive: makes segments and bases, deletes old files, and retries after
/// failures. It is the only user of the archive's folder while the store is open.
final class ArchiveWorker {
    private let archive: Archive
    private let folder: ArchiveFolder
    private let options: ArchiveOptions
    private let logPath: String
    private let tail: HistoryTail
    /// A connection of its own, for reading the database file.
    private let database: Connection
    private let store: UUID
    private let epoch: Int64
    private let retention: ArchiveRetention
    /// Other processes must not write to the folder.
    private let lock: RawFile
    private let shipping: Shipping?

    private var files: [ArchiveRetention.File] = []
    private var copy: LogCopy?
    private var base: BaseCopy?
    private var generation: Int64
    /// The state at the beginning of a generation that has no base yet.
    private var firstBase: (header: ArchiveHeader, generation: Archive.Generation)?
    /// After a failure of the base: when it is tried again.
    private var retryBase: ContinuousClock.Instant?
    private var lastSegment = ContinuousClock.now

    /// - Throws: `storeInUse` if another process archives to the folder, and errors of the folder.
    init(
        _ archive: Archive, _ options: ArchiveOptions, _ start: ArchiveStart, store: UUID,
        epoch: Int64, logPath: String, tail: HistoryTail, database: Connection, lock: RawFile
    ) throws(LarderError) {
        self.archive = archive
        self.options = options
        self.logPath = logPath
        self.tail = tail
        self.database = database
        self.store = store
        self.epoch = epoch
        self.lock = lock
        folder = start.folder
        retention = ArchiveRetention(
            ageMax: options.ageMax.map { Double($0.components.seconds) },
            bytesMax: options.bytesMax, baseBytesMin: options.baseBytesMin)
        generation = start.entries.last?.generation ?? 0
        shipping = options.command.map {
            Shipping(ShippingCommand(text: $0), start.folder, report: archive.report)
        }
        for name in [ArchiveFolder.unfinishedSegment, ArchiveFolder.unfinishedBase] {
            unlink(folder.path(of: name))
        }
        files = start.entries.map(file)
        if let (header, position) = start.continuation {
            copy = try LogCopy(
                to: folder, logPath: logPath, tail: tail, database: database, header: header,
                position: position)
            archive.state.withLock { state in
                state.phase = .continuous
                state.isNamed = true
                state.announced = Archive.Commit(number: 1, frame: start.frameCount)
                state.generation = header.generation
                state.archived = header.start
            }
        }
        shipping?.append(start.entries)
        noteSize()
    }

    private func noteSize() {
        let byteCount = files.reduce(0) { $0 + $1.byteCount }
        archive.state.withLock { $0.byteCount = byteCount }
    }

    /// A base that cannot be read has no time, so it is not deleted because of its age.
    private func file(_ entry: ArchiveFolder.Entry) -> ArchiveRetention.File {
        let base = entry.kind == .base ? try? ArchiveFileReader(folder.path(of: entry)) : nil
        return ArchiveRetention.File(
            entry: entry, byteCount: folder.byteCount(of: [entry]), time: base?.header.start.time)
    }

    // MARK: The loop

    /// Works until the archive is closed.
    func run() {
        while true {
            let isClosing = work()
            if isClosing { break }
            archive.wait(atMost: pause)
        }
        shipping?.close()
        // The archive may be opened again at once.
        lock.unlock()
        archive.update { $0.hasEnded = true }
    }

    /// The time until there is work, if the writer does not ask for it before.
    private var pause: Duration {
        let state = archive.state.withLock { $0 }
        if state.failure != nil { return archive.limits.retryInterval }
        if base != nil { return .zero }
        let hasNews = state.phase == .continuous && state.finished != state.announced
        return hasNews ? untilSegment : options.interval
    }

    /// The time until the next segment is due.
    private var untilSegment: Duration {
        max(.milliseconds(1), lastSegment + options.interval - .now)
    }

    /// - Returns: whether the archive is being closed.
    private func work() -> Bool {
        let state = archive.state.withLock { state in
            defer { state.isRequested = false }
            return state
        }
        do throws(LarderError) {
            if let next = state.next { try begin(next) }
            if state.phase == .continuous {
                let isDue = state.isRequested || state.isClosing || untilSegment <= .milliseconds(1)
                if isDue || state.failure != nil { try archiveCommits(state.announced) }
            } else if state.failure != nil {
                try probe()
            }
            if state.isClosing {
                try close(state)
            } else {
                workOnBase()
                try deleteOldFiles()
            }
            recovered()
        } catch {
            failed(error)
        }
        return state.isClosing
    }

    private func archiveCommits(_ announced: Archive.Commit) throws(LarderError) {
        defer { lastSegment = .now }
        if archive.state.withLock({ $0.finished == announced }) { return }
        do throws(LarderError) {
            if let entry = try copy?.makeSegment(upTo: announced.frame) { add(entry) }
        } catch {
            guard error == LogCopy.diverged else { throw error }
            archive.update { $0.phase = .broken }
            archive.report(
                ArchiveEvent(
                    .failure, "\(error.message); a new generation begins with the next commit"))
            return
        }
        let archived = copy?.header.start
        archive.update { state in
            state.finished = announced
            state.isLate = false
            state.archived = archived
        }
    }

    private func add(_ entry: ArchiveFolder.Entry) {
        files.append(file(entry))
        files.sort { $0.entry < $1.entry }
        noteSize()
        shipping?.append([entry])
    }

    // MARK: Generations

    private func begin(_ next: Archive.Generation) throws(LarderError) {
        base = nil
        copy = nil
        generation += 1
        let header = ArchiveHeader(
            kind: .segment, store: store, epoch: epoch, generation: generation,
            generationIdentity: next.identity, sequence: 0, previous: 0,
            pageBytes: tail.pageBytes, start: try tail.moment(in: database))
        let copy = try LogCopy(
            to: folder, logPath: logPath, tail: tail, database: database, header: header,
            position: next.position)
        self.copy = copy
        firstBase = (header, next)
        retryBase = nil
        let number = generation
        archive.update { state in
            state.next = nil
            state.generation = number
            state.archived = nil
        }
        archive.report(
            ArchiveEvent(
                .information, "archive: generation \(generation) begins with a copy of the store"))
    }

    /// Finds out whether the folder can be written.
    private func probe() throws(LarderError) {
        let path = folder.path(of: ArchiveFolder.unfinishedSegment)
        let file = try RawFile(creating: path)
        try file.write([UInt8](repeating: 0, count: tail.pageBytes), at: 0)
        try file.sync()
        unlink(path)
    }

    // MARK: Bases

    /// Does a step of the base that is being made, or begins one. A failure of it does not stop the
    /// segments.
    private func workOnBase() {
        if let retryBase, retryBase > .now { return }
        do throws(LarderError) {
            if base == nil { base = try nextBase() }
            let segments = files.map(\.entry).filter {
                $0.kind == .segment && $0.generation == generation
            }
            guard let entry = try base?.step(segments) else { return }
            base = nil
            firstBase = nil
            retryBase = nil
            add(entry)
            archive.report(
                ArchiveEvent(
                    .information, "archive: \(entry.name) is complete"))
        } catch {
            base = nil
            unlink(folder.path(of: ArchiveFolder.unfinishedBase))
            if retryBase == nil {
                archive.report(
                    ArchiveEvent(
                        .failure,
                        "archive: a base copy failed and will be repeated: "
                            + error.message))
            }
            retryBase = .now + archive.limits.retryInterval
        }
    }

    /// The base that should be made now. The first one may be begun at any time, because all
    /// segments of the generation are applied to it.
    private func nextBase() throws(LarderError) -> BaseCopy? {
        if let (header, generation) = firstBase {
            return try BaseCopy(
                of: .database(database, generation), header, in: folder)
        }
        guard let copy,
            retention.needsBase(files, at: Date().timeIntervalSinceReferenceDate),
            let last = files.last(where: { $0.entry.kind == .base })?.entry
        else { return nil }
        return try BaseCopy(of: .base(last), copy.header, in: folder)
    }

    private func deleteOldFiles() throws(LarderError) {
        guard base == nil else { return }
        let unshipped = shipping?.waiting ?? []
        let old = retention.deletions(files, at: Date().timeIntervalSinceReferenceDate) {
            unshipped.contains($0)
        }
        guard !old.isEmpty else { return }
        for entry in old { try folder.remove(entry) }
        let deleted = Set(old)
        files.removeAll { deleted.contains($0.entry) }
        noteSize()
    }

    // MARK: The end

    private func close(_ state: Archive.State) throws(LarderError) {
        let isComplete = archive.state.withLock {
            $0.finished == $0.announced && $0.phase == .continuous
        }
        guard let closed = state.closed, let copy, isComplete else { return }
        let name = "unfinished.closed"
        let file = try RawFile(creating: folder.path(of: name))
        try file.write(Array(closed.text(copy.header.previous).utf8), at: 0)
        try file.sync()
        guard rename(folder.path(of: name), folder.path(of: ArchiveFolder.closedName)) == 0 else {
            throw RawFile.failure(folder.path(of: ArchiveFolder.closedName), "created", errno)
        }
        try folder.sync()
    }

    // MARK: Failures

    private func failed(_ error: LarderError) {
        let isNew = archive.update { state in
            let isNew = state.failure == nil
            state.failure = (error, state.failure?.since ?? Date())
            return isNew
        }
        guard isNew else { return }
        archive.report(
            ArchiveEvent(
                .failure,
                "changes are not archived: \(error.message); retrying every "
                    + "\(archive.limits.retryInterval)"))
    }

    private func recovered() {
        let since = archive.update { state in
            defer { state.failure = nil }
            return state.failure?.since
        }
        guard since != nil else { return }
        archive.report(
            ArchiveEvent(
                .recovery, "archive: changes are archived again"))
    }
}
