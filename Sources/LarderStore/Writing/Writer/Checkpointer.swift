import Dispatch
import LarderSQL
import Synchronization

/// Copies pages from the log into the store's file while the writer continues: passive checkpoints
/// on a thread of its own, each begun by the writer.
///
/// SQLite before 3.51.3 loses commits if the log starts from its beginning while another connection
/// checkpoints. This cannot happen here: before a checkpoint the writer's thread begins a snapshot
/// that needs the log, which ends after the checkpoint, and the log does not start from its
/// beginning as long as a snapshot needs it. The writer itself checkpoints only while no checkpoint
/// runs here. The snapshot also bounds what is copied: nothing that is committed later.
///
/// Sendable unchecked: the connections are used by the writer's thread between checkpoints, and by
/// the checkpointer's during one; `phase` says which.
final class Checkpointer: @unchecked Sendable {
    private enum Phase: Int, AtomicRepresentable {
        case idle
        case running
        /// The outcome has not been taken.
        case ended
    }

    private let phase = Atomic(Phase.idle)
    private let queue = DispatchQueue(label: "larder.checkpoint")
    private(set) var copying: Connection?
    /// Has the snapshot.
    private var holding: Connection?
    private var outcome = Result<Void, SQLError>.success(())

    var isRunning: Bool { phase.load(ordering: .acquiring) == .running }
    var hasOutcome: Bool { phase.load(ordering: .acquiring) == .ended }

    /// Opens the connections, unless they are open.
    func open(_ store: Store) throws(SQLError) {
        if copying == nil { copying = try store.openCheckpointConnection() }
        if holding == nil { holding = try store.openCheckpointConnection() }
    }

    /// Begins a checkpoint of the commits up to now, with the connections that are open. None may
    /// be running, and the log must have pages that are not in the file yet: otherwise the snapshot
    /// would not need the log.
    func begin() throws(SQLError) {
        precondition(!isRunning, "the writer begins one checkpoint at a time")
        do throws(SQLError) {
            try holding?.execute("BEGIN")
            // The first read begins the snapshot.
            _ = try holding?.integer("PRAGMA user_version")
        } catch {
            holding = nil
            throw error
        }
        phase.store(.running, ordering: .releasing)
        queue.async { self.run() }
    }

    private func run() {
        DatabaseMemory.useReserve()
        do throws(SQLError) {
            try copying?.checkpoint(.passive)
            try holding?.execute("COMMIT")
            outcome = .success(())
        } catch {
            // The connection ends its snapshot.
            holding = nil
            copying = nil
            outcome = .failure(error)
        }
        phase.store(.ended, ordering: .releasing)
    }

    /// - Returns: false if no checkpoint has ended since the last call.
    /// - Throws: its error.
    func takeOutcome() throws(SQLError) -> Bool {
        guard hasOutcome else { return false }
        phase.store(.idle, ordering: .relaxed)
        try outcome.get()
        return true
    }

    /// Waits until no checkpoint runs.
    func wait() { queue.sync {} }

    /// Waits, and closes the connections. The next checkpoint opens new ones.
    func close() {
        wait()
        phase.store(.idle, ordering: .relaxed)
        holding = nil
        copying = nil
    }
}
