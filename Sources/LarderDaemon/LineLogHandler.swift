import FoundationEssentials
import Glibc
import LarderModel
import LarderPrograms
import Logging

/// Writes log lines to standard error, as text or as JSON.
///
/// Text has the time, the level, the message, and the metadata as `name=value`. JSON is one object
/// per line, with these as `time`, `level`, `message` and a key per name; all values are strings.
/// In the systemd journal a line begins with the syslog priority, and text has no time, which the
/// journal records itself.
struct LineLogHandler: LogHandler {
    enum Format: String, CaseIterable {
        case text, json
    }

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
    let format: Format
    let destination: Destination

    init(format: Format, destination: Destination) {
        self.format = format
        self.destination = destination
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = metadata.merging(event.metadata ?? [:]) { $1 }
        let time = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let line =
            switch (format, destination) {
            case (.json, _): Self.json(event, metadata, time)
            case (.text, .journal): Self.text(event, metadata)
            case (.text, .terminalOrFile): "\(time) \(event.level) \(Self.text(event, metadata))"
            }
        let prefix = destination == .journal ? "<\(Self.priority(event.level))>" : ""
        StandardError.write(prefix + line + "\n")
    }

    private static func text(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
        let values = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        return oneLine("\(event.message)\(values.joined())")
    }

    private static func json(
        _ event: LogEvent, _ metadata: Logger.Metadata, _ time: String
    ) -> String {
        var members = metadata.mapValues { JSONValue.string("\($0)") }
        members["time"] = .string(time)
        members["level"] = .string("\(event.level)")
        members["message"] = .string("\(event.message)")
        return JSONValue.object(members).text
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
