import Glibc
import LarderClient
import LarderModel
import LarderPrograms
import Synchronization

/// The progress of a long command, shown on standard error if that is a terminal: the number of
/// objects or bytes, the rate, and if the end is known, the part that is done and the time that is
/// left.
struct Progress {
    enum Unit {
        case objects, bytes

        func text(_ count: Int) -> String {
            switch self {
            case .objects: "\(count) objects"
            case .bytes: "\(count >> 20) MiB"
            }
        }

        func rate(_ count: Int) -> String {
            switch self {
            case .objects: "\(count)/s"
            case .bytes: "\(count >> 20) MiB/s"
            }
        }
    }

    let isShown: Bool
    private let verb: String
    private let unit: Unit
    private let start = ContinuousClock.now
    private var lastShown: ContinuousClock.Instant?
    private static let interval = Duration.milliseconds(100)
    /// An estimate of the time that is left is worth nothing before.
    private static let estimateTimeMin = 1.0
    private static let secondsLeftMax = 365 * 86_400.0

    /// - Parameter isShown: Whether nothing else is printed on the terminal meanwhile.
    init(_ verb: String, _ unit: Unit = .objects, isShown: Bool = true) {
        self.verb = verb
        self.unit = unit
        self.isShown = isShown && isatty(STDERR_FILENO) == 1
    }

    /// - Parameter fraction: The part of the work that is done, from 0 to 1; nil if it is unknown.
    mutating func show(_ count: Int, fraction: Double? = nil) {
        let now = ContinuousClock.now
        guard isShown, lastShown.map({ now - $0 >= Self.interval }) ?? true else { return }
        lastShown = now
        let elapsed = max(0.001, (now - start) / .seconds(1))
        let rate = Int(clamped: (Double(count) / elapsed).rounded())
        var text = "\(verb) \(unit.text(count)), \(unit.rate(rate))"
        if let fraction { text += Self.text(min(1, max(0, fraction)), after: elapsed) }
        ProgressLine.show(text)
    }

    /// - Parameter total: The count at the end; 0 if it is unknown.
    mutating func show(_ count: Int, of total: Int64) {
        show(count, fraction: total > 0 ? Double(count) / Double(total) : nil)
    }

    private static func text(_ fraction: Double, after elapsed: Double) -> String {
        let text = ", \(Int(clamped: (fraction * 100).rounded(.down))) %"
        guard elapsed >= estimateTimeMin, fraction > 0, fraction < 1 else { return text }
        let seconds = min(secondsLeftMax, elapsed * (1 - fraction) / fraction)
        return text + ", \(ElapsedTime(Int64(clamped: seconds.rounded(.up))).text) left"
    }

    /// Clears the progress line.
    func end() {
        if isShown { ProgressLine.clear() }
    }
}

/// The line of the terminal that shows progress, which each text replaces.
enum ProgressLine {
    static func show(_ text: String) {
        // A line that is wrapped could not be replaced by the next one.
        let shown = DisplayWidth.cut(text, to: TerminalWindow(of: STDERR_FILENO).columnCount)
        StandardError.write(control: "\r\u{1B}[K" + shown)
    }

    static func clear() { StandardError.write(control: "\r\u{1B}[K") }
}

/// A number of seconds for people: `3h 12m`.
struct ElapsedTime {
    private let seconds: Int64

    init(_ seconds: Int64) { self.seconds = seconds }

    var text: String {
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60)
        if days > 0 { return "\(days)d \(hours)h" }
        if hours > 0 { return "\(hours)h \(minutes)m" }
        return minutes > 0 ? "\(minutes)m \(seconds % 60)s" : "\(seconds)s"
    }
}

extension StoreClient {
    /// Makes a backup, and shows its progress.
    func backup(showingProgressTo path: String) throws(LarderError) -> StoreBackup {
        let progress = Mutex(Progress("backed up", .bytes))
        defer { progress.withLock { $0.end() } }
        return try backup(to: path) { written, total in
            progress.withLock { $0.show(Int(clamping: written), of: total) }
        }
    }

    /// The number of objects of an entity without its subentities, to measure progress by.
    func objectCount(of entityName: String) throws(LarderError) -> Int64 {
        try count(entityName, includesSubentities: false)
    }
}
