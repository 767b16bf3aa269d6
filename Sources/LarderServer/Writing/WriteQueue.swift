import FoundationEssentials
import LarderModel
import LarderQuery
import NIOCore
import NIOPosix
import Synchronization

/// The bounded queue of writes for the store's writer.
///
/// A thread takes a group of waiting writes, in the order of ``WriteSchedule``, commits them
/// together, and then replies to each; so a reply means that the write is as durable as the store
/// makes it. A write whose deadline passes while it waits is rejected without having been executed.
/// A write for which another user's write has waited too long is stopped, with nothing changed, and
/// is tried again later, as long as its deadline allows.
final class WriteQueue: Sendable {
    typealias Outcome = Result<SaveResult, LarderError>

    private struct State {
        var schedule: WriteSchedule
        /// Whether the thread has been started, and has not found yet that nothing may run.
        var isWorking = false
        /// The group that the writer executes, if it may take long.
        var running: Run?
        /// Whether the timer that watches the deadlines and the running group is scheduled.
        var isWatching = false
        var isClosed = false
        /// Whether nothing more is executed.
        var isInterrupted = false
        /// The copies that the thread makes between the writes, in turn.
        var backups: [BackupJob] = []
        /// When the thread is started after a pause, if that is scheduled.
        var startTime: NIODeadline?
        /// The writer's progress at the last probe.
        var probedProgress = 0
        var counts = WriteCounts()

        /// - Returns: whether the caller has to schedule the watch.
        mutating func startWatch() -> Bool {
            defer { isWatching = true }
            return !isWatching
        }

        /// - Returns: whether the caller has to start the thread.
        mutating func startWork() -> Bool {
            defer { isWorking = true }
            return !isWorking
        }
    }

    /// An execution of writes of one user.
    private struct Run {
        let user: UInt32
        let cancellation: ReadCancellation
        /// Since when a write of another user waits.
        var othersWaitSince: NIODeadline?
    }

    /// Sendable unchecked: only the thread uses the writer.
    private struct Confined: @unchecked Sendable {
        let writer: any StoreWriter
    }

    private let confined: Confined
    /// The readers, whose snapshots keep the log of the store from being shortened.
    private let readers: ReaderPool
    private let announcer: CommitAnnouncer
    let limits: ServerLimits
    private let thread = NIOThreadPool(numberOfThreads: 1)
    /// Runs the timers.
    let eventLoop: any EventLoop
    private let state: Mutex<State>
    /// Stops short saves, which no other user's write waits for long enough to stop.
    private let interruption = ReadCancellation()
    private let shortBudget: ReadBudget

    /// Advances while the writer works.
    let progress: WriterProgress

    init(
        writer: any StoreWriter, readers: ReaderPool, announcer: CommitAnnouncer,
        limits: ServerLimits, eventLoop: any EventLoop
    ) {
        self.progress = writer.progress
        self.readers = readers
        self.announcer = announcer
        self.confined = Confined(writer: writer)
        self.limits = limits
        self.eventLoop = eventLoop
        shortBudget = ReadBudget(cancellation: interruption)
        self.state = Mutex(State(schedule: WriteSchedule(limits: limits)))
        thread.start()
        startRetention()
    }

    /// Queues a write. Its `reply` is called in any case.
    func append(_ item: Item) {
        var startsWatch = false
        var startsWork = false
        let refusal = state.withLock { state -> LarderError? in
            if state.isClosed || state.isInterrupted { return ConnectionState.stopping }
            guard state.schedule.append(item) else { return Self.full }
            if let run = state.running, run.othersWaitSince == nil, run.user != item.user {
                state.running?.othersWaitSince = .now()
            }
            startsWatch = state.startWatch()
            startsWork = state.startWork()
            return nil
        }
        if let refusal { return item.reject(refusal) }
        if startsWatch { scheduleWatch() }
        if startsWork { startThread() }
    }

    /// Begins a copy of the store.
    func append(_ backup: BackupJob) {
        var startsWork = false
        let isRefused = state.withLock { state in
            if state.isClosed { return true }
            state.backups.append(backup)
            startsWork = state.startWork()
            return false
        }
        if isRefused { return backup.reject(ConnectionState.stopping) }
        if startsWork { startThread() }
    }

    private func startThread() {
        thread.submit { _ in self.drain() }
    }

    /// Calls back if the writer works: at once if it has worked since the last call, otherwise
    /// after it has processed the writes that wait now.
    func probe(_ done: @escaping @Sendable () -> Void) {
        let count = progress.count
        let hasWorked = state.withLock { state in
            defer { state.probedProgress = count }
            return state.probedProgress != count
        }
        if hasWorked { return done() }
        append(
            .probe(
                Probe(for: Self.ownUser, deadline: .distantFuture) { error in
                    if error == nil { done() }
                }))
    }

    // MARK: The watch

    /// Runs while writes wait or take long.
    private func scheduleWatch() {
        eventLoop.scheduleTask(in: TimeAmount(limits.expiryInterval)) { self.watch() }
    }

    /// Rejects the writes whose time is up, and stops a long write for which others wait.
    private func watch() {
        let (now, timeMax) = (NIODeadline.now(), TimeAmount(limits.writerTimeMax))
        let (expired, stopped, continues) = state.withLock { state in
            let expired = state.schedule.takeExpired(at: now)
            let stopped = state.running.flatMap { run in
                run.othersWaitSince.map { now - $0 >= timeMax } ?? false ? run.cancellation : nil
            }
            state.isWatching = !state.schedule.isEmpty || state.running != nil
            return (expired, stopped, state.isWatching)
        }
        stopped?.cancel()
        for item in expired { reject(item) }
        if continues { scheduleWatch() }
    }

    // MARK: On the writer's thread

    private var writer: any StoreWriter { confined.writer }

    /// Executes the writes that may run, and a step of a backup after each group of them, until
    /// there is nothing to do.
    private func drain() {
        while true {
            let start = NIODeadline.now()
            let (next, backup) = state.withLock { state in
                // A queue that is being closed ignores the pauses.
                let next = state.schedule.next(at: state.isClosed ? .distantFuture : start)
                let backup = state.backups.isEmpty ? nil : state.backups.removeFirst()
                if case .group = next {} else { state.isWorking = backup != nil }
                return (next, backup)
            }
            switch next {
            case .group(let group): execute(group, at: start)
            case .nothing where backup == nil: return
            case .pause(let end) where backup == nil: return scheduleStart(at: end)
            case .nothing, .pause: break
            }
            if let backup { step(backup) }
        }
    }

    /// A backup has no turn in ``WriteSchedule``, where it would be another user: groups would be
    /// smaller, and long writes would be stopped for it.
    private func step(_ backup: BackupJob) {
        let isDone = backup.step(timeMax: limits.backupStepTimeMax) { writer.makeCopy(in: $0) }
        if isDone { return }
        let isClosed = state.withLock { state in
            if !state.isClosed { state.backups.append(backup) }
            return state.isClosed
        }
        if isClosed { backup.reject(ConnectionState.stopping) }
    }

    /// Starts the thread after a pause, once however many writes arrive during the pause.
    private func scheduleStart(at pauseEnd: NIODeadline) {
        let isEarlier = state.withLock { state in
            if let scheduled = state.startTime, scheduled <= pauseEnd { return false }
            state.startTime = pauseEnd
            return true
        }
        guard isEarlier else { return }
        eventLoop.scheduleTask(deadline: pauseEnd) { [self] in
            let startsWork = state.withLock { state in
                state.startTime = nil
                return state.startWork()
            }
            if startsWork { startThread() }
        }
    }

    private func execute(_ group: [Item], at start: NIODeadline) {
        let isShort = group.allSatisfy(\.isShort)
        let cancellation = isShort ? nil : begin(group[0], at: start)
        var saves: [Save] = []
        saves.reserveCapacity(group.count)
        for item in group where item.deadline > start {
            switch item {
            case .save(let save): saves.append(save)
            case .transaction(let write): execute(write, stoppedBy: cancellation)
            case .deletion(let deletion): execute(deletion)
            case .probe: break
            }
        }
        if !saves.isEmpty { execute(saves, stoppedBy: cancellation) }
        for item in group {
            if item.deadline <= start {
                reject(item)
            } else if case .probe(let probe) = item {
                probe.reply(nil)
            }
        }
        let end = NIODeadline.now()
        state.withLock { state in
            if let since = state.running?.othersWaitSince {
                state.schedule.longEnded(for: group[0].user, othersWaited: end - since, at: end)
            }
            state.running = nil
        }
    }

    /// Notes that a group which may take long begins.
    ///
    /// - Returns: what stops it.
    private func begin(_ first: Item, at start: NIODeadline) -> ReadCancellation {
        let cancellation = ReadCancellation()
        let startsWatch = state.withLock { state in
            state.running = Run(
                user: first.user, cancellation: cancellation,
                othersWaitSince: state.schedule.hasWaiting(besides: first.user) ? start : nil)
            state.counts.longWrites += 1
            if state.isInterrupted { cancellation.cancel() }
            return state.startWatch()
        }
        if startsWatch { scheduleWatch() }
        return cancellation
    }

    private func execute(_ saves: [Save], stoppedBy cancellation: ReadCancellation?) {
        var saves = saves
        var probes: [Probe] = []
        let start = NIODeadline.now()
        let outcomes = writer.save(
            saves.map { $0.request(stoppedBy: cancellation, shortBudget) }
        ) {
            let more = takeShortSaves(groupCount: saves.count, &probes)
            saves += more
            return more.map { $0.request(stoppedBy: nil, shortBudget) }
        }
        precondition(outcomes.count == saves.count, "the writer returns one outcome per set")
        let (count, time) = (saves.count, NIODeadline.now() - start)
        state.withLock { $0.counts.noteGroup(of: count, time) }
        if (cancellation ?? interruption).isCancelled {
            reply(toStopped: saves, outcomes)
        } else {
            reply(to: saves, outcomes)
        }
        for probe in probes { probe.reply(nil) }
        announce(outcomes)
        maintain()
    }

    private func execute(_ write: Transaction, stoppedBy cancellation: ReadCancellation?) {
        let outcome = write.execute(writer, write.budget(stoppedBy: cancellation))
        state.withLock { $0.counts.transactions += 1 }
        if let cancellation, cancellation.isCancelled, Self.wasStopped(outcome) {
            tryAgain(.transaction(write))
        } else {
            write.reply(outcome)
        }
        if case .success(let written) = outcome, let number = written.transaction {
            announcer.announce(number)
        }
        maintain()
    }

    private func announce(_ outcomes: [Outcome]) {
        var last: Int64 = 0
        for case .success(let result) in outcomes { last = max(last, result.transaction ?? 0) }
        if last > 0 { announcer.announce(last) }
    }

    /// Deletes a part of the history, and lets other writes run before the next part. A queue that
    /// is being closed does not wait for all of them.
    private func execute(_ deletion: Deletion) {
        switch deletion.step(of: writer, rowsMax: limits.historyDeletionRowsMax) {
        case .success(nil):
            let continues = state.withLock { state in
                let isEnding = state.isClosed || state.isInterrupted
                if !isEnding { state.schedule.appendAgain(.deletion(deletion)) }
                return !isEnding
            }
            if !continues { deletion.reject(ConnectionState.stopping) }
        case .success(let count?): deletion.reply(.success(count))
        case .failure(let error): deletion.reply(.failure(error))
        }
        maintain()
    }

    /// Does the maintenance that is due. If old snapshots keep the log from being shortened, the
    /// longer it is, the more of them are ended.
    private func maintain() {
        guard writer.needsMaintenance else { return }
        writer.performMaintenance()
        guard writer.needsReadersToEnd else { return }
        // The log reaches its maximum after this many more checkpoints.
        let left = (limits.logBytesMax - writer.logByteCount) / limits.logStepBytes
        let count = readers.activeCount
        guard count > 0 else { return }
        if left > 1 {
            readers.endSnapshots(atMost: count / left)
        } else {
            readers.endAllSnapshots(within: limits.snapshotEndTimeMax)
            writer.performMaintenance()
        }
    }

    /// The short saves that a group of `groupCount` has room for. They join its commit; long ones
    /// would delay the replies to the group.
    ///
    /// - Parameter probes: Gets the probes among them, to be replied to after the commit.
    private func takeShortSaves(groupCount: Int, _ probes: inout [Probe]) -> [Save] {
        let room = limits.writeGroupMax - groupCount
        guard room > 0 else { return [] }
        let now = NIODeadline.now()
        var saves: [Save] = []
        for item in state.withLock({ $0.schedule.takeShort(atMost: room, at: now) }) {
            switch item {
            case .save(let save) where save.deadline > now: saves.append(save)
            case .probe(let probe): probes.append(probe)
            case .save, .transaction, .deletion: reject(item)
            }
        }
        return saves
    }

    // MARK: Replies

    /// Replies to saves, to those of one event loop together, so that it is woken once.
    /// The saves themselves are released on this thread, because freeing a large one takes long.
    private func reply(to saves: [Save], _ outcomes: [Outcome]) {
        var eventLoops: [any EventLoop] = []
        for save in saves where !eventLoops.contains(where: { $0 === save.eventLoop }) {
            eventLoops.append(save.eventLoop)
        }
        for eventLoop in eventLoops {
            let replies = zip(saves, outcomes).compactMap { save, outcome in
                save.eventLoop === eventLoop ? (save.reply, outcome) : nil
            }
            eventLoop.execute { for (reply, outcome) in replies { reply(outcome) } }
        }
    }

    /// Replies to the saves that were completed, and tries the others again.
    private func reply(toStopped saves: [Save], _ outcomes: [Outcome]) {
        var stopped: [Save] = []
        for (save, outcome) in zip(saves, outcomes) {
            if Self.wasStopped(outcome) {
                stopped.append(save)
            } else {
                reply(to: [save], [outcome])
            }
        }
        for save in stopped.reversed() { tryAgain(.save(save)) }
    }

    /// Whether the cancellation of a group, which has happened, is the reason of an outcome.
    private static func wasStopped<Result>(_ outcome: Swift.Result<Result, LarderError>) -> Bool {
        if case .failure(let error) = outcome { error.code == .cancelled } else { false }
    }

    private func tryAgain(_ item: Item) {
        item.noteStop()
        let isInterrupted = state.withLock { state in
            if !state.isInterrupted { state.schedule.putBack(item) }
            return state.isInterrupted
        }
        if isInterrupted { item.reject(ConnectionState.stopping) }
    }

    /// Rejects a write whose time is up.
    private func reject(_ item: Item) {
        item.reject(item.wasStopped ? Self.stopped : Self.expired)
    }

    private static let full = LarderError(
        .resourceExhausted, "too many writes are waiting; this one was not executed",
        hint: "try again later")

    private static let expired = LarderError(
        .timeout, "the write waited too long and was not executed",
        hint: "it can be sent again")

    private static let stopped = LarderError(
        .timeout, "the write takes too long while other users write; nothing was changed",
        hint: "divide it into smaller writes, or repeat it when the store is less busy")

    // MARK: The end

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Executes the writes that are waiting, and refuses those that arrive from now on. It calls
    /// back on the writer's thread.
    func finish(_ done: @escaping @Sendable () -> Void) {
        state.withLock { $0.isClosed = true }
        // The thread runs its jobs in order, so this one comes after every other. A backup ends
        // with its next step.
        thread.submit { [self] _ in
            drain()
            done()
        }
    }

    /// Executes the writes that are waiting, then closes the writer and ends its thread.
    func close(_ done: @escaping @Sendable () -> Void) {
        finish { [self] in
            writer.close()
            thread.shutdownGracefully { _ in done() }
        }
    }

    /// Rejects the writes that wait and those that arrive from now on, and stops the one that runs
    /// unless it commits already. Nothing is changed by a write that is stopped.
    func interrupt() {
        let (waiting, running) = state.withLock { state in
            state.isInterrupted = true
            return (state.schedule.takeExpired(at: .distantFuture), state.running?.cancellation)
        }
        interruption.cancel()
        running?.cancel()
        for item in waiting { item.reject(ConnectionState.stopping) }
    }

    /// Adds the writes to the load of the server.
    func report(_ load: inout ServerLoad) {
        state.withLock { state in
            load.saveCount = Int64(state.counts.saves)
            load.commitCount = Int64(state.counts.commits)
            load.writesWaiting = Int64(state.schedule.count)
        }
    }

    /// The metrics that `stats` does not have.
    var metrics: [MetricFamily] { state.withLock { $0.counts.families } }

    /// Metrics for `stats`.
    var statistics: [Statistic] {
        state.withLock { state in
            state.counts.statistics + [
                Statistic("savesWaiting", .int(Int64(state.schedule.count)))
            ]
        }
    }
}
