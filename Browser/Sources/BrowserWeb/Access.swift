import Synchronization

/// Who may use the pages: a browser that has exchanged a key for a cookie, or on a Unix socket
/// everybody whom the permissions of the socket admit.
public final class Access: Sendable {
    /// The sessions that exist at a time; a new one ends the oldest.
    static let sessionsMax = 32

    private struct State {
        var key: String
        var sessions: [String] = []
        /// Called with each key that can be used.
        var report: @Sendable (_ key: String) -> Void = { _ in }
    }

    let needsKey: Bool
    private let state = Mutex(State(key: Access.secret()))

    /// - Parameter needsKey: Whether a browser needs a key.
    public init(needsKey: Bool) { self.needsKey = needsKey }

    /// Reports the first key, and then another one after each use, since a key is used once.
    public func begin(_ report: @escaping @Sendable (_ key: String) -> Void) {
        guard needsKey else { return }
        let key = state.withLock { state in
            state.report = report
            return state.key
        }
        report(key)
    }

    /// Exchanges a key for a session; nil for a wrong or used one.
    func session(for key: String) -> String? {
        guard needsKey else { return nil }
        let made = state.withLock { state -> (String, State)? in
            guard Self.isSame(key, state.key) else { return nil }
            state.key = Self.secret()
            let session = Self.secret()
            if state.sessions.count >= Self.sessionsMax { state.sessions.removeFirst() }
            state.sessions.append(session)
            return (session, state)
        }
        guard let (session, next) = made else { return nil }
        next.report(next.key)
        return session
    }

    func admits(session: String?) -> Bool {
        guard needsKey else { return true }
        guard let session else { return false }
        return state.withLock { state in
            state.sessions.contains { Self.isSame($0, session) }
        }
    }

    /// 160 bits of the system's generator as hexadecimal digits.
    private static func secret() -> String {
        (0..<20).map { _ in
            let digits = String(UInt8.random(in: 0...255), radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// Takes as long for every text of the same length, so that time tells nothing about a secret.
    private static func isSame(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        return zip(left.utf8, right.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
