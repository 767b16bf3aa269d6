import Glibc
import LarderModel

/// Reports the state of the service to its manager, as systemd defines it: datagrams of
/// `NAME=value` lines to the socket in `NOTIFY_SOCKET`. Without that variable it does nothing.
package struct Notification: Sendable {
    private let path: String?
    /// The interval at which the manager expects a sign of life; nil if it expects none.
    package let watchdogInterval: Duration?

    /// With the environment of this process.
    package init() {
        var environment: [String: String] = [:]
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
            environment[name] = getenv(name).map { String(cString: $0) }
        }
        self.init(environment: environment, processIdentifier: getpid())
    }

    init(environment: [String: String], processIdentifier: Int32) {
        // `@` represents the zero byte at the beginning of the name of an abstract socket.
        path = environment["NOTIFY_SOCKET"].flatMap { path in
            switch path.first {
            case "@": "\0" + path.dropFirst()
            case "/": path
            default: nil
            }
        }
        let owner = environment["WATCHDOG_PID"].map { Int32($0) } ?? processIdentifier
        watchdogInterval = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { interval in
            interval > 0 && owner == processIdentifier ? .microseconds(interval) : nil
        }
    }

    /// The service accepts connections.
    package func ready(status: String) { send(["READY=1", "STATUS=\(oneLine(status))"]) }

    /// A line of text that describes what the service does now.
    package func status(_ status: String) { send(["STATUS=\(oneLine(status))"]) }

    /// The service has begun to stop.
    package func stopping() { send(["STOPPING=1", "STATUS=stopping"]) }

    /// The service is alive. Call it only after a check.
    package func alive() { send(["WATCHDOG=1"]) }

    /// Allows the start or the stop this much more time, from now.
    package func extendTime(by time: Duration) {
        let (seconds, attoseconds) = time.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        send(["EXTEND_TIMEOUT_USEC=\(microseconds)"])
    }

    private func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 })
    }

    /// Errors are ignored: the service works without its manager.
    private func send(_ lines: [String]) {
        guard let path, let descriptor = try? UnixSocket.make(SOCK_DGRAM) else { return }
        defer { close(descriptor) }
        try? UnixSocket.send(Array(lines.joined(separator: "\n").utf8), over: descriptor, to: path)
    }
}
