import LarderModel
import NIOCore

/// The requests of the connections of one event loop: how many, how long they took, and how they
/// ended.
///
/// Sendable unchecked: there is one per event loop, used on that loop alone, as the ``LoopReader``
/// that has it.
final class RequestMetrics: @unchecked Sendable {
    struct Counts: Sendable {
        private static let times = HistogramTable(
            rowCount: 2 * RequestKind.allCases.count, bounds: Histogram.times.bounds)
        /// By the kind of the request, and whether it failed.
        fileprivate var times = Self.times
        fileprivate(set) var errors: [Failure: Int64] = [:]

        func times(of kind: RequestKind, failed: Bool) -> Histogram {
            times.histogram(inRow: Self.row(kind, failed: failed))
        }

        fileprivate static func row(_ kind: RequestKind, failed: Bool) -> Int {
            kind.rawValue * 2 + (failed ? 1 : 0)
        }

        mutating func add(_ other: Counts) {
            times.add(other.times)
            errors.merge(other.errors) { $0 + $1 }
        }
    }

    struct Failure: Hashable, Sendable {
        let kind: RequestKind
        let code: ErrorCode
    }

    private(set) var counts = Counts()

    /// - Parameters:
    ///   - time: From the beginning of the turn that took the request to its last reply.
    ///   - error: nil if the request succeeded.
    func record(_ kind: RequestKind, _ time: TimeAmount, error: ErrorCode?) {
        counts.times.record(time.nanoseconds, inRow: Counts.row(kind, failed: error != nil))
        if let error { counts.errors[Failure(kind: kind, code: error), default: 0] += 1 }
    }
}
