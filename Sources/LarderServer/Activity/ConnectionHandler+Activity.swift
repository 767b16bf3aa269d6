import FoundationEssentials
import Glibc
import LarderModel
import LarderWire
import NIOCore

/// The report of the connection about itself, and the requests about the server's activity.
extension ConnectionHandler {
    // MARK: The times of requests

    /// The last reply to a request has been made.
    func noteEnd(of id: UInt64, _ reply: EncodableReply) {
        var code: ErrorCode?
        if case .reply(.failed(let error)) = reply {
            services.failures.report(error)
            code = error.code
        }
        let isInTurn = services.loopTurns.isRunning
        if let (ended, time) = times.end(id, code, isInTurn: isInTurn) {
            services.loopReader.requests.record(ended.kind, time, error: ended.error)
        }
    }

    /// A part of the turn has ended, and with it perhaps a request.
    func recordEnd() {
        guard let ended = times.takeEnded() else { return }
        services.loopReader.requests.record(
            ended.kind, services.loopTurns.lastTime, error: ended.error)
    }

    // MARK: The connection

    /// What the connection is doing; nil after it has closed.
    func activity(of number: Int) -> ConnectionActivity? {
        guard let context else { return nil }
        return ConnectionActivity(
            id: Int64(number), source: source, opened: opened, requestCount: Int64(requestCount),
            requestsInFlight: Int64(state.requestsInFlight),
            followerCount: Int64(state.followerCount), memoryByteCount: Int64(quota.total),
            waitingByteCount: Int64(Self.bufferedBytes(of: context.channel)))
    }

    /// The open requests of the connection, the oldest first. The one that asks is not among them.
    func running(of number: Int) -> [RunningRequest] {
        let (now, time) = (NIODeadline.now(), Date())
        return times.open.filter { $0.kind != .activity }.map { entry in
            let query = entry.query.flatMap { try? $0.decoded() }
            let seconds = Double((now - entry.start).nanoseconds) / 1e9
            return RunningRequest(
                connection: Int64(number), request: entry.id, source: source, kind: entry.kind.name,
                started: time.addingTimeInterval(-seconds), entityName: query?.entityName ?? "",
                query: query?.summary)
        }.sorted { ($0.started, $0.request) < ($1.started, $1.request) }
    }

    // MARK: Requests

    func activity(_ operation: Operation) {
        guard let port else { return }
        let id = operation.id
        services.activity.collect(for: user, ownOnly: seesOwnOnly) { activity in
            port.execute { $0.finish(id, .activity(activity)) }
        }
    }

    func metrics(_ operation: Operation) {
        guard let port else { return }
        let id = operation.id
        services.metrics.collect { families in
            let text = PrometheusText.text(of: families)
            port.execute { $0.finish(id, .metrics(text)) }
        }
    }

    /// Whether a policy hides the connections of other users.
    private var seesOwnOnly: Bool { services.view.rights.map { !$0.may(.admin) } ?? false }

    /// Whether the policy makes the user an administrator; if it has no limits for the user, or
    /// there is none, root and the user of the server are.
    private var mayEndAll: Bool {
        services.view.rights.map { $0.may(.admin) } ?? (user == 0 || user == geteuid())
    }

    func endRequests(of number: Int64, _ request: UInt64, _ operation: Operation) {
        let id = operation.id
        let connection = services.registry.open.first { Int64($0.number) == number }
        guard let port, let connection else { return finish(id, .requestsEnded(0)) }
        let (user, mayEndAll, seesOwnOnly) = (user, mayEndAll, seesOwnOnly)
        connection.port.execute { other in
            let reply: Reply =
                if mayEndAll || other.user == user {
                    .requestsEnded(other.end(request))
                } else if seesOwnOnly {
                    .requestsEnded(0)
                } else {
                    .failed(Self.othersRequests)
                }
            port.execute { $0.finish(id, reply) }
        }
    }

    /// Ends requests for an operator.
    ///
    /// - Parameter request: An id; 0 for all.
    /// - Returns: their number.
    private func end(_ request: UInt64) -> Int64 {
        let ended = requests.filter { request == 0 || $0.key == request }
        for request in ended.values { request.fail(Self.ended) }
        return Int64(ended.count)
    }

    private static let ended = LarderError(
        .cancelled, "the request was ended by its user or an administrator")

    private static let othersRequests = LarderError(
        .permissionDenied, "the connection belongs to another user",
        hint: "root and the user of the server may end its requests")
}
