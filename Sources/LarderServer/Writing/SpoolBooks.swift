import LarderModel
import Synchronization

/// The books on streams that become one transaction: how many there are, and the bytes of their
/// rows on the disk.
final class SpoolBooks: Sendable {
    private struct State {
        var count = 0
        var bytes = 0
    }

    private let limits: ServerLimits
    private let state = Mutex(State())

    init(limits: ServerLimits) { self.limits = limits }

    func open(in folder: String) throws(LarderError) -> SpoolFile {
        let isAdmitted = state.withLock { state in
            guard state.count < limits.atomicStreamsMax else { return false }
            state.count += 1
            return true
        }
        guard isAdmitted else {
            throw LarderError(
                .resourceExhausted,
                "\(limits.atomicStreamsMax) streams of one transaction each are under way",
                hint: "try again after a moment, or insert in several transactions")
        }
        do throws(LarderError) {
            return try SpoolFile(in: folder, self)
        } catch {
            close(0)
            throw error
        }
    }

    func book(_ bytes: Int) throws(LarderError) {
        let isWithin = state.withLock { state in
            guard state.bytes + bytes <= limits.spoolBytesMax else { return false }
            state.bytes += bytes
            return true
        }
        guard isWithin else {
            throw LarderError(
                .resourceExhausted,
                "the rows of streams of one transaction take more than \(limits.spoolBytesMax) "
                    + "bytes", hint: "insert them in several transactions")
        }
    }

    func close(_ bytes: Int) {
        state.withLock { state in
            state.count -= 1
            state.bytes -= bytes
        }
    }

    /// Figures for `stats`.
    var statistics: [Statistic] {
        state.withLock { state in
            [
                Statistic("atomicStreams", .int(Int64(state.count))),
                Statistic("spooledBytes", .int(Int64(state.bytes))),
            ]
        }
    }
}
