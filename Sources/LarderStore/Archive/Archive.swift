import Dispatch
import FoundationEssentials
import LarderModel
import Synchronization

/// The state that the writer of a store and the thread of its archive share.
///
/// The writer announces each commit and checkpoints only if every commit is in a finished segment,
/// so that the log has all the others, also after a crash. The thread does everything that needs
/// the archive's folder; the writer waits for it at most as long as ``Limits`` says. If the archive
/// fails for so long that the log becomes too long, the generation ends: the writer checkpoints
/// without it, and begins a new generation when the folder works again.
final class Archive: Sendable {
    struct Limits {
        /// The log is checkpointed when it has grown by this many pages: 16 MiB.
        var pagesBetweenCheckpoints = 4_000
        /// A segment is made when this many pages are not archived: 8 MiB.
        var pagesPerSegment = 2_000
        /// The writer waits only if no more pages than this are left to archive.
        var pagesToWaitFor = 64
        var waitMax = Duration.milliseconds(50)
        /// A log of more pages than this, 32 MiB, has to be checkpointed, and the writer waits
        /// longer.
        var pagesUntilLongWait = 8_000
        var longWaitMax = Duration.seconds(1)
        /// The generation ends if the archive fails and the log has more pages: 256 MiB.
        var pagesMax = 64_000
        var closingTimeMax = Duration.seconds(10)
        var retryInterval = Duration.seconds(5)
    }

    /// The number of a commit since the store was opened, and the end of the log after it.
    struct Commit: Hashable {
        var number = 0
        var frame = 0
    }

    /// A new generation, of which the writer has prepared the store.
    struct Generation: Hashable {
        var identity: UInt64
        /// The end of the log that was emptied. The next one continues its salts.
        var position: LogPosition
        /// The size of the database, which is completely in its file.
        var pageCount: UInt32
    }

    enum Phase: Hashable {
        /// Every commit is in a segment or in the log.
        case continuous
        /// The writer has to begin a new generation, if the folder works.
        case broken
    }

    struct State {
        var phase = Phase.broken
        var announced = Commit()
        var finished = Commit()
        /// A generation that the thread has not begun yet.
        var next: Generation?
        /// Whether the last work of the thread failed, why, and since when.
        var failure: (error: LarderError, since: Date)?
        /// Whether the writer has waited without success since the thread last made progress.
        var isLate = false
        var isRequested = false
        var isClosing = false
        /// Whether the catalog of the store names the generation.
        var isNamed = false
        /// The change of the file after the store was closed completely; see ``ClosedStore``.
        var closed: ClosedStore?
        var hasEnded = false
        var generation: Int64 = 0
        var archived: ArchiveMoment?
        /// The length of the archive's files.
        var byteCount: Int64 = 0
        var waiting = 0
    }

    enum Decision: Hashable {
        case checkpoint
        /// Not now; the log keeps what is not archived.
        case wait
        /// First make the store ready for a new generation.
        case beginGeneration
        /// First record that the archive ends.
        case giveUp
    }

    let options: ArchiveOptions
    let limits: Limits
    let state = Mutex(State())
    private let work = DispatchSemaphore(value: 0)
    private let progress = DispatchSemaphore(value: 0)
    let report: @Sendable (ArchiveEvent) -> Void

    init(
        _ options: ArchiveOptions, limits: Limits = Limits(),
        report: @escaping @Sendable (ArchiveEvent) -> Void
    ) {
        self.options = options
        self.limits = limits
        self.report = report
    }

    // MARK: On the writer's thread

    /// Whether the writer should begin a generation.
    var needsGeneration: Bool {
        state.withLock { $0.phase == .broken && $0.failure == nil }
    }

    /// Announces a commit that is as durable as the store makes it.
    func committed(frame: Int) {
        let wakes = state.withLock { state in
            state.announced = Commit(number: state.announced.number + 1, frame: frame)
            let start = state.finished.frame <= frame ? state.finished.frame : 0
            guard state.phase == .continuous, !state.isRequested, state.failure == nil,
                frame - start >= limits.pagesPerSegment
            else { return false }
            state.isRequested = true
            return true
        }
        if wakes { work.signal() }
    }

    /// Whether the log may be checkpointed. It may wait for the archive for a limited time.
    func decision() -> Decision {
        let (decision, waitMax) = state.withLock { state -> (Decision?, Duration) in
            let frame = state.announced.frame
            if state.phase == .broken {
                if state.failure == nil { return (.beginGeneration, .zero) }
                return (state.isNamed ? .giveUp : .checkpoint, .zero)
            }
            if state.finished == state.announced { return (.checkpoint, .zero) }
            let isTooLong = frame >= limits.pagesMax
            if state.failure != nil || state.isLate {
                guard isTooLong else { return (.wait, .zero) }
                state.phase = .broken
                return (.giveUp, .zero)
            }
            let start = state.finished.frame <= frame ? state.finished.frame : 0
            let needsLongWait = frame >= limits.pagesUntilLongWait
            let isNear = frame - start <= limits.pagesToWaitFor
            let wait = needsLongWait ? limits.longWaitMax : isNear ? limits.waitMax : .zero
            return (nil, wait)
        }
        if let decision { return decision }
        return waitForThread(atMost: waitMax) ? .checkpoint : .wait
    }

    /// Asks for a segment of everything that is announced, and waits for it.
    ///
    /// - Returns: whether everything is archived.
    private func waitForThread(atMost time: Duration) -> Bool {
        wake()
        let deadline = ContinuousClock.now + time
        while true {
            let isDone = state.withLock { state -> Bool? in
                if state.finished == state.announced { return true }
                if state.failure != nil { return false }
                state.waiting += 1
                return nil
            }
            if let isDone { return isDone }
            let left = deadline - .now
            guard left > .zero else {
                // A short wait says nothing about the archive.
                if time >= limits.longWaitMax { state.withLock { $0.isLate = true } }
                return false
            }
            _ = progress.wait(timeout: .now() + .nanoseconds(left.wholeNanoseconds))
        }
    }

    /// The store is completely in its file, and its catalog names this generation.
    func begin(_ generation: Generation) {
        state.withLock { state in
            state.phase = .continuous
            state.next = generation
            state.isNamed = true
            state.finished = state.announced
            state.isLate = false
        }
        work.signal()
    }

    /// Archives what is left when the store is closed.
    ///
    /// - Returns: whether everything is archived, so that the log can be removed.
    func finish() -> Bool { waitForThread(atMost: limits.closingTimeMax) }

    /// Ends the thread.
    ///
    /// - Parameter closed: The file after its log was emptied; nil if the log still has commits.
    func close(_ closed: ClosedStore?) {
        let hasEnded = state.withLock { state in
            state.isClosing = true
            state.closed = closed
            return state.hasEnded
        }
        work.signal()
        guard !hasEnded else { return }
        let deadline = ContinuousClock.now + limits.closingTimeMax
        while deadline > .now {
            let hasEnded = state.withLock { state in
                state.waiting += 1
                return state.hasEnded
            }
            if hasEnded { return }
            _ = progress.wait(
                timeout: .now() + .nanoseconds((deadline - .now).wholeNanoseconds))
        }
    }

    /// Ends the thread without archiving what is left, which is in the log.
    func abandon() {
        let isOpen = state.withLock { state in
            defer { state.isClosing = true }
            return !state.isClosing
        }
        if isOpen { work.signal() }
    }

    /// Makes the thread look for work now.
    func wake() {
        let wasRequested = state.withLock { state in
            defer { state.isRequested = true }
            return state.isRequested
        }
        if !wasRequested { work.signal() }
    }

    // MARK: On the archive's thread

    /// Waits until there is work.
    func wait(atMost time: Duration) {
        _ = work.wait(timeout: .now() + .nanoseconds(time.wholeNanoseconds))
    }

    /// Changes the state and wakes the writer if it waits.
    func update<Result>(_ body: (inout State) -> Result) -> Result where Result: Sendable {
        let (result, waiting) = state.withLock { state in
            let result = body(&state)
            defer { state.waiting = 0 }
            return (result, state.waiting)
        }
        for _ in 0..<waiting { progress.signal() }
        return result
    }

    // MARK: Statistics

    func statistics(pageBytes: Int) -> [Statistic] {
        state.withLock { state in
            let start = state.finished.frame <= state.announced.frame ? state.finished.frame : 0
            let isArchived = state.finished == state.announced && state.phase == .continuous
            let lag = isArchived ? 0 : state.announced.frame - start
            return [
                Statistic("archiveGeneration", .int(state.generation)),
                Statistic(
                    "archivedTransaction", state.archived.map { .int($0.transaction) } ?? .null),
                Statistic(
                    "archivedTime",
                    state.archived.map {
                        .date(Date(timeIntervalSinceReferenceDate: $0.time))
                    } ?? .null),
                Statistic("archiveBytes", .int(state.byteCount)),
                Statistic("archiveLagBytes", .int(Int64(lag * pageBytes))),
                Statistic(
                    "archiveFailedSince", state.failure.map { .date($0.since) } ?? .null),
                Statistic(
                    "archiveFailure", state.failure.map { .string($0.error.message) } ?? .null),
            ]
        }
    }
}

extension Duration {
    fileprivate var wholeNanoseconds: Int {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        return Int(whole).addingClamped(Int(attoseconds / 1_000_000_000))
    }
}
