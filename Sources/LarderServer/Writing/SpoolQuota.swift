import LarderModel
import Synchronization

/// The quota of atomic insert streams: their number, and the disk space for their rows.
final class SpoolQuota: Sendable {
    private struct State {
        var count = 0
        var bytes = 0
    }

    private let folder: String
    private let limits: ServerLimits
    private let state = Mutex(State())

    /// - Parameter folder: The folder of the spool files.
    init(folder: String, limits: ServerLimits) {
        self.folder = folder
        self.limits = limits
    }

    /// Makes the spool file of one more stream.
    func open() throws(LarderError) -> SpoolFile {
        let isAdmitted = state.withLock { state in
            guard state.count < limits.atomicStreamsMax else { return false }
            state.count += 1
            return true
        }
        guard isAdmitted else {
            throw LarderError(
                .resourceExhausted,
                "the maximum of \(limits.atomicStreamsMax) atomic insert streams is reached",
                hint: "try again later, or insert in several transactions")
        }
        do throws(LarderError) {
            return try SpoolFile(in: folder, self)
        } catch {
            release(0)
            throw error
        }
    }

    func charge(_ bytes: Int) throws(LarderError) {
        let isWithin = state.withLock { state in
            guard state.bytes + bytes <= limits.spoolBytesMax else { return false }
            state.bytes += bytes
            return true
        }
        guard isWithin else {
            throw LarderError(
                .resourceExhausted,
                "the rows of atomic insert streams need more than \(limits.spoolBytesMax) bytes",
                hint: "insert in several transactions")
        }
    }

    /// A stream has ended.
    ///
    /// - Parameter bytes: The total that was charged for it.
    func release(_ bytes: Int) {
        state.withLock { state in
            state.count -= 1
            state.bytes -= bytes
        }
    }

    /// Metrics for `stats`.
    var statistics: [Statistic] {
        state.withLock { state in
            [
                Statistic("atomicStreams", .int(Int64(state.count))),
                Statistic("spooledBytes", .int(Int64(state.bytes))),
            ]
        }
    }
}
