import Glibc
import LarderModel

/// Tells the service manager how the service is, by systemd's contract: datagrams of `NAME=value`
/// lines to the socket that `NOTIFY_SOCKET` names. Without that variable it tells nobody.
public struct Notification: Sendable {
    private let path: String?
    /// How often the manager wants to hear that the service lives; nil if it does not ask.
    public let watchdogInterval: Duration?

    /// As this process's environment says.
    public init() {
        var environment: [String: String] = [:]
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
            environment[name] = getenv(name).map { String(cString: $0) }
        }
        self.init(environment: environment, processIdentifier: getpid())
    }

    init(environment: [String: String], processIdentifier: Int32) {
        // `@` stands for the zero byte with which the name of an abstract socket begins.
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

    /// The service is up and serves.
    public func ready(status: String) { tell(["READY=1", "STATUS=\(oneLine(status))"]) }

    /// What the service is at, in a line for people.
    public func status(_ status: String) { tell(["STATUS=\(oneLine(status))"]) }

    /// The service has begun to stop.
    public func stopping() { tell(["STOPPING=1", "STATUS=stopping"]) }

    /// The service lives; to be told by who has just seen that it does.
    public func alive() { tell(["WATCHDOG=1"]) }

    /// The start, or the stop, takes so much longer from now on.
    public func extendTime(by time: Duration) {
        let (seconds, attoseconds) = time.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        tell(["EXTEND_TIMEOUT_USEC=\(microseconds)"])
    }

    private func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 })
    }

    /// A manager that cannot be reached is no reason to stop serving.
    private func tell(_ lines: [String]) {
        guard let path, let descriptor = try? UnixSocket.make(SOCK_DGRAM) else { return }
        defer { close(descriptor) }
        try? UnixSocket.send(Array(lines.joined(separator: "\n").utf8), over: descriptor, to: path)
    }
}
