import FoundationEssentials
import Glibc
import LarderModel
import LarderWire
internal import Logging
import NIOCore

/// The report of the connection about itself, and the requests about the server's activity.
extension ConnectionHandler {
    // MARK: The times of requests

    /// The last reply to a request has been made.
    func noteEnd(of id: UInt64, _ reply: EncodableReply) {
        var code: ErrorCode?
        if case .reply(.failed(let error)) = reply {
            note(error, of: id)
            code = error.code
        }
        let isInTurn = services.loopTurns.isRunning
        if let (ended, time) = times.end(id, code, isInTurn: isInTurn) {
            record(ended, time)
        }
    }

    /// A request has failed. Most failures concern their client alone.
    private func note(_ error: LarderError, of id: UInt64) {
        let entry = times.entry(of: id)
        services.failures.report(error, trace: entry?.trace ?? "")
        guard services.logger.logLevel <= .debug, let entry else { return }
        services.logger.debug(
            "request failed: \(error.message)",
            metadata: metadata(of: entry).merging(["code": "\(error.code.name)"]) { $1 })
    }

    /// The user, the process, and the request.
    private func metadata(of entry: RequestTimes.Entry) -> Logger.Metadata {
        var metadata = metadata
        metadata["kind"] = "\(entry.kind.name)"
        if !entry.trace.isEmpty { metadata["trace"] = "\(entry.trace)" }
        return metadata
    }

    /// A part of the turn has ended, and with it perhaps a request.
    func recordEnd() {
        guard let ended = times.takeEnded() else { return }
        record(ended, services.loopTurns.lastTime)
    }

    private func record(_ ended: RequestTimes.Ended, _ time: TimeAmount) {
        services.loopReader.requests.record(ended.kind, time, error: ended.error)
        services.loopReader.queries.end(ended.record, time, failed: ended.error != nil)
    }

    // MARK: The connection

    /// The state of the connection, for the activity; nil after it has closed.
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
                query: query?.summary, trace: entry.trace)
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

    func queryStatistics(resetting: Bool, _ operation: Operation) {
        guard let port else { return }
        let id = operation.id
        guard !resetting || mayEndAll else { return finish(id, .failed(Self.othersStatistics)) }
        services.metrics.queries.collect(resetting: resetting) { statistics in
            let reply = EncodableReply(.queryStatistics(statistics), to: id, encodedAbove: 0)
            port.execute { $0.finish(id, reply) }
        }
    }

    private static let othersStatistics = LarderError(
        .permissionDenied, "the statistics of queries are those of all users",
        hint: "root and the user of the server may reset them")

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
                    .requestsEnded(other.end(request, for: user))
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
    /// - Parameters:
    ///   - request: An id; 0 for all.
    ///   - operator: The user who ends them.
    /// - Returns: their number.
    private func end(_ request: UInt64, for operator: UInt32) -> Int64 {
        let ended = requests.filter { request == 0 || $0.key == request }
        for (id, request) in ended {
            if let entry = times.entry(of: id) {
                services.logger.log(
                    level: `operator` == user ? .debug : .notice, "request ended on request",
                    metadata: metadata(of: entry).merging(["by": "\(`operator`)"]) { $1 })
            }
            request.fail(Self.ended)
        }
        return Int64(ended.count)
    }

    private static let ended = LarderError(
        .cancelled, "the request was ended by its user or an administrator")

    private static let othersRequests = LarderError(
        .permissionDenied, "the connection belongs to another user",
        hint: "root and the user of the server may end its requests")
}
