import Logging
import Synchronization

/// A log whose messages a test reads.
final class RecordedLog: Sendable {
    private struct State {
        var messages: [String] = []
        var metadata: [[String: String]] = []
        var details: [String] = []
    }

    private let state = Mutex(State())

    /// The messages of the level notice and above.
    var messages: [String] { state.withLock { $0.messages } }
    /// The metadata of each of them.
    var metadata: [[String: String]] { state.withLock { $0.metadata } }
    /// The messages of lower levels.
    var details: [String] { state.withLock { $0.details } }

    var logger: Logger {
        var logger = Logger(label: "test") { [self] _ in Handler(log: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.state.withLock { state in
                if event.level >= .notice {
                    state.messages.append("\(event.message)")
                    state.metadata.append((event.metadata ?? [:]).mapValues { "\($0)" })
                } else {
                    state.details.append("\(event.message)")
                }
            }
        }
    }
}
