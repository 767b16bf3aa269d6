import LarderModel
import Synchronization

/// The quota of the streams that are one transaction each: their number, and the disk space until
/// their last message has arrived.
///
/// They leave a reserve of the disk free; see ``DiskSpace``.
final class SpoolQuota: Sendable {
    private struct State {
        var streams: UserShares
        var bytes: UserShares
    }

    private let folder: String
    private let state: Mutex<State>

    /// - Parameter folder: The folder of the spool files.
    init(folder: String, limits: ServerLimits) {
        self.folder = folder
        self.state = Mutex(
            State(
                streams: UserShares(limits.atomicStreams), bytes: UserShares(limits.spoolBytes)))
    }

    /// Makes the spool file of one more stream.
    func open(for user: UInt32) throws(LarderError) -> SpoolFile {
        let isAdmitted = state.withLock { $0.streams.take(1, for: user) }
        guard isAdmitted else {
            throw LarderError(
                .resourceExhausted,
                "too many transactions of this user are arriving in several messages",
                hint: "try again later, or write in several transactions")
        }
        do throws(LarderError) {
            return try SpoolFile(in: folder, self, for: user)
        } catch {
            release(0, for: user)
            throw error
        }
    }

    func charge(_ bytes: Int, for user: UInt32) throws(LarderError) {
        let free = DiskSpace.freeBytes(in: folder)
        let refusal = state.withLock { state -> LarderError? in
            // The space that the rows of all streams take already is not free any more.
            let total = free.map { $0 + state.bytes.used } ?? .max
            if state.bytes.take(bytes, for: user, total: total) { return nil }
            return state.bytes.allows(bytes, for: user)
                ? Self.noSpace : Self.exhausted(state.bytes.maximum(for: user))
        }
        if let refusal { throw refusal }
    }

    /// There is too little disk space, apart from the reserve and the shares of others.
    static let noSpace = LarderError(
        .storageFull, "there is no disk space for a write in several messages",
        hint: "free disk space, or write in several transactions")

    private static func exhausted(_ maximum: Int) -> LarderError {
        LarderError(
            .resourceExhausted,
            "the unfinished writes of this user in several messages need more than \(maximum) "
                + "bytes",
            hint: "write in several transactions, or raise --max-spool of the server")
    }

    /// A stream has ended.
    ///
    /// - Parameter bytes: The total that was charged for it.
    func release(_ bytes: Int, for user: UInt32) {
        state.withLock { state in
            state.streams.add(-1, to: user)
            state.bytes.add(-bytes, to: user)
        }
    }

    /// Metrics for `stats`.
    var statistics: [Statistic] {
        state.withLock { state in
            [
                Statistic("atomicStreams", .int(Int64(state.streams.used))),
                Statistic("spooledBytes", .int(Int64(state.bytes.used))),
            ]
        }
    }
}
