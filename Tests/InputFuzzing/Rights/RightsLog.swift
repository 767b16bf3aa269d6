import Logging
import Synchronization

/// The lines of a server's log.
final class RightsLog: Sendable {
    private let recorded = Mutex<[String]>([])

    var logger: Logger {
        var logger = Logger(label: "rights") { [self] _ in Handler(log: self) }
        logger.logLevel = .debug
        return logger
    }

    /// The lines that contain a text. The others are removed.
    func lines(containing text: String) -> [String] {
        recorded.withLock { lines in
            defer { lines = [] }
            return lines.filter { $0.contains(text) }
        }
    }

    private struct Handler: LogHandler {
        let log: RightsLog
        var logLevel = Logger.Level.debug
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.recorded.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
        }
    }
}
