import FoundationEssentials
import Glibc
import LarderPrograms
import Logging

/// Writes log lines to standard error: time, level, message, and the metadata as `name=value`.
///
/// In the systemd journal, which records the time itself, a line begins with the syslog priority.
struct LineLogHandler: LogHandler {
    enum Destination {
        case terminalOrFile
        case journal

        /// The destination that standard error is connected to. systemd sets JOURNAL_STREAM to
        /// the device and inode of the journal's socket.
        static var standardError: Destination {
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
    let destination: Destination

    init(destination: Destination) { self.destination = destination }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let values = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        let text = Self.oneLine("\(event.message)\(values)")
        switch destination {
        case .journal: StandardError.write("<\(Self.priority(event.level))>\(text)\n")
        case .terminalOrFile:
            let time = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            StandardError.write("\(time) \(event.level) \(text)\n")
        }
    }

    /// Replaces control characters by spaces, so that logged values cannot forge a log line.
    private static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline || $0.asciiValue.map { $0 < 0x20 } == true ? " " : $0 })
    }

    /// The syslog priority of a level.
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
