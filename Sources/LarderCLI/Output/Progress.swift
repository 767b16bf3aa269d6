import Glibc
import LarderModel
import LarderPrograms

/// The progress of a long command, shown on standard error if that is a terminal.
struct Progress {
    private let isShown: Bool
    private let verb: String
    private let start = ContinuousClock.now
    private var lastShown: ContinuousClock.Instant?
    private static let interval = Duration.milliseconds(100)

    /// - Parameter isShown: Whether nothing else is printed on the terminal meanwhile.
    init(_ verb: String, isShown: Bool = true) {
        self.verb = verb
        self.isShown = isShown && isatty(STDERR_FILENO) == 1
    }

    mutating func show(_ count: Int) {
        let now = ContinuousClock.now
        guard isShown, lastShown.map({ now - $0 >= Self.interval }) ?? true else { return }
        lastShown = now
        let elapsed = max(0.001, (now - start) / .seconds(1))
        let rate = Int(clamped: (Double(count) / elapsed).rounded())
        StandardError.write(control: "\r\u{1B}[K\(verb) \(count) objects, \(rate)/s")
    }

    /// Clears the progress line.
    func end() {
        if isShown { StandardError.write(control: "\r\u{1B}[K") }
    }
}
