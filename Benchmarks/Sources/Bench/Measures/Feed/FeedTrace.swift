import FoundationEssentials
import Glibc

/// When each commit of a run was sent and acknowledged, and when its event arrived at each
/// subscriber, in nanoseconds of CLOCK_MONOTONIC, which all processes share.
struct FeedTrace {
    var sent: [Int64]
    var acknowledged: [Int64]
    /// By subscriber and by the event's number, from 1.
    var arrivals: [[Int64]]
    /// The sum of the numbers that subscribers have received.
    var checksum: Int64

    init(sent: [Int64], acknowledged: [Int64], arrivals: [[Int64]], checksum: Int64) {
        self.sent = sent
        self.acknowledged = acknowledged
        self.arrivals = arrivals
        self.checksum = checksum
    }

    /// - Parameter path: A file with all times in this order, as numbers of eight bytes.
    init(file path: String, subscribers: Int, events: Int, checksum: Int64) throws {
        let rows = try Self.rows(of: path, count: 2 + subscribers, length: events)
        self.init(
            sent: rows[0], acknowledged: rows[1], arrivals: Array(rows[2...]), checksum: checksum)
    }

    /// Reads a file of this number of rows with this number of times each.
    static func rows(of path: String, count: Int, length: Int) throws -> [[Int64]] {
        let data = try Data(contentsOf: URL(filePath: path))
        guard data.count == count * length * 8 else {
            throw Problem("\(path) has \(data.count) bytes")
        }
        return data.withUnsafeBytes { bytes in
            (0..<count).map { row in
                (0..<length).map { index in
                    bytes.load(fromByteOffset: (row * length + index) * 8, as: Int64.self)
                }
            }
        }
    }

    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    // MARK: Times in microseconds, one per event

    var acknowledgements: [Double] { Self.differences(acknowledged, sent) }

    /// From the acknowledgement to the arrival; negative if the event arrives first. Only if one
    /// connection has written, so that commits and events have the same order.
    func afterAcknowledgement(at receiver: Receiver) -> [Double] {
        Self.differences(arrivals(at: receiver), acknowledged)
    }

    func afterSending(at receiver: Receiver) -> [Double] {
        Self.differences(arrivals(at: receiver), sent)
    }

    /// Which subscriber's arrivals count. It may be another one for each event.
    enum Receiver {
        case median, last
    }

    private func arrivals(at receiver: Receiver) -> [Int64] {
        sent.indices.map { event in
            let times = arrivals.map { $0[event] }.sorted()
            return receiver == .last ? times[times.count - 1] : times[times.count / 2]
        }
    }

    private static func differences(_ later: [Int64], _ earlier: [Int64]) -> [Double] {
        zip(later, earlier).map { Double($0 - $1) / 1_000 }
    }

    // MARK: Rates

    /// From the first commit that was sent to the last acknowledgement.
    var commitsPerSecond: Double { rate(sent.count, until: acknowledged) }

    /// The events of all subscribers, from the first commit that was sent to the last arrival.
    var eventsPerSecond: Double {
        rate(sent.count * arrivals.count, until: arrivals.joined())
    }

    private func rate(_ count: Int, until ends: some Sequence<Int64>) -> Double {
        guard let start = sent.min(), let end = ends.max(), end > start else { return 0 }
        return Double(count) / Double(end - start) * 1e9
    }
}
