import FoundationEssentials
import Glibc
import Logging

/// Log lines on standard error: time, level, message, then `name=value` of what belongs to it.
///
/// For the journal, which keeps time and level itself, the level stands in front as a number.
struct LineLogHandler: LogHandler {
    enum Place {
        case terminalOrFile
        case journal

        /// What standard error is connected to.
        static var standardError: Place {
            guard let stream = getenv("JOURNAL_STREAM").map({ String(cString: $0) }) else {
                return .terminalOrFile
            }
            var status = stat()
            guard fstat(STDERR_FILENO, &status) == 0 else { return .terminalOrFile }
            return stream == "\(status.st_dev):\(status.st_ino)" ? .journal : .terminalOrFile
        }
    }

    var logLevel: Logger.Level = .notice
    var metadata: Logger.Metadata = [:]
    let place: Place

    init(place: Place) { self.place = place }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let values = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        let text = Self.oneLine("\(event.message)\(values)")
        switch place {
        case .journal: LineWriter.write("<\(Self.priority(event.level))>\(text)")
        case .terminalOrFile:
            let time = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            LineWriter.write("\(time) \(event.level) \(text)")
        }
    }

    /// Nothing that is logged can pass for another line.
    private static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline || $0.asciiValue.map { $0 < 0x20 } == true ? " " : $0 })
    }

    /// The numbers of syslog.
    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
