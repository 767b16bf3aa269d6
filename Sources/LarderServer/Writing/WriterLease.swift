import LarderModel
import NIOCore
import Synchronization

/// The right to use the store's writer. Its owner is the writer's thread, or an event loop for one
/// save.
///
/// A save on the event loop avoids the switch to the thread and back. See
/// `docs/decisions/0019-save-on-the-event-loop.md`. The lease does not use the queue: after a
/// release, the former owner must check for work that was queued during the lease, and take the
/// lease again to do it.
final class WriterLease: Sendable {
    enum Owner: Equatable {
        case none
        case thread
        case eventLoop
    }

    private struct State {
        var owner = Owner.none
        var isClosed = false
        var inlineSaves = 0
        /// No save on an event loop begins before.
        var slowDiskEnd: NIODeadline?
        /// Called when the event loop that owns the lease releases it, after the lease was closed.
        var whenFree: (@Sendable () -> Void)?
    }

    /// Sendable unchecked: only the owner uses the writer, and the lock of `state` passes it on.
    private struct Confined: @unchecked Sendable {
        let writer: any StoreWriter
    }

    private let confined: Confined
    /// The limits of a save on an event loop.
    private let inlineBudget: ReadBudget
    private let timeMax: TimeAmount
    private let slowDiskPause: TimeAmount
    private let state = Mutex(State())

    init(writer: any StoreWriter, limits: ServerLimits) {
        confined = Confined(writer: writer)
        inlineBudget = ReadBudget(work: limits.inlineWorkMax, workTimeMax: limits.inlineTimeMax)
        timeMax = TimeAmount(limits.inlineSaveTimeMax)
        slowDiskPause = TimeAmount(limits.slowDiskPause)
    }

    var owner: Owner { state.withLock { $0.owner } }

    /// The number of saves on event loops.
    var inlineSaves: Int { state.withLock { $0.inlineSaves } }

    // MARK: For the writer's thread

    /// The writer, for its thread while that owns the lease.
    var writer: any StoreWriter { confined.writer }

    /// Takes the lease for the writer's thread.
    ///
    /// - Returns: false if it has an owner, which checks for queued work after the release.
    func takeForThread() -> Bool {
        state.withLock { state in
            guard state.owner == .none else { return false }
            state.owner = .thread
            return true
        }
    }

    func releaseFromThread() { state.withLock { $0.owner = .none } }

    // MARK: For event loops

    /// Saves on the event loop that calls, unless the lease has an owner or is closed, or a save
    /// took too long a short time ago: the thread can wait for a disk that stalls, the event loop
    /// would delay all its connections.
    ///
    /// - Parameter released: Called after the save with whether maintenance is due, if the lease
    ///   is still open.
    /// - Returns: nil, with nothing changed, if the save has to be queued.
    func saveInline(
        _ changes: SaveRequest, released: (_ needsMaintenance: Bool) -> Void
    ) -> Result<SaveResult, LarderError>? {
        let start = NIODeadline.now()
        guard takeForEventLoop(at: start) else { return nil }
        let outcome = writer.save(changes, within: inlineBudget)
        let end = NIODeadline.now()
        let needsMaintenance = writer.needsMaintenance
        // A pattern, because `!=` would copy both sides.
        let isSaved = if case .some = outcome { true } else { false }
        let (isClosed, whenFree) = state.withLock { state in
            state.owner = .none
            if isSaved { state.inlineSaves += 1 }
            if end - start > timeMax { state.slowDiskEnd = end + slowDiskPause }
            return (state.isClosed, state.whenFree.take())
        }
        if isClosed { whenFree?() } else { released(needsMaintenance) }
        return outcome
    }

    private func takeForEventLoop(at now: NIODeadline) -> Bool {
        state.withLock { state in
            guard state.owner == .none, !state.isClosed else { return false }
            if let slowDiskEnd = state.slowDiskEnd {
                guard slowDiskEnd <= now else { return false }
                state.slowDiskEnd = nil
            }
            state.owner = .eventLoop
            return true
        }
    }

    // MARK: The end

    /// Grants no more saves on event loops, and calls back when none has the lease: at once, or on
    /// the event loop that owns it.
    func close(_ whenFree: @escaping @Sendable () -> Void) {
        let isFree = state.withLock { state in
            state.isClosed = true
            guard state.owner == .eventLoop else { return true }
            state.whenFree = whenFree
            return false
        }
        if isFree { whenFree() }
    }
}
