import Logging

extension Logger {
    /// A logger without output.
    static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
