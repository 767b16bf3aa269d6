import LarderModel
internal import Logging
import NIOCore
import Synchronization

/// Logs the failures of the server itself: of its storage, of its threads, and the users whom it
/// refuses. Errors that a client can avoid are not logged; they are in its replies.
///
/// A failure that repeats has one line per interval, whatever number of requests meet it. The line
/// at the end of the interval has the number of those that were left out.
final class FailureLog: Sendable {
    private struct Failure: Hashable {
        let level: Logger.Level
        let message: String
        let metadata: [String: String]

        /// For failures beyond those that are counted one by one.
        static let others = Failure(
            level: .error, message: "there are more kinds of failures than are logged one by one",
            metadata: [:])
    }

    /// The kinds of failures, of one interval, that are counted one by one.
    private static let failuresMax = 64
    private static let messageCharactersMax = 1_000

    private let logger: Logger
    private let eventLoop: any EventLoop
    private let interval: TimeAmount
    /// The failures that were logged in the last interval, and how often they were left out since.
    private let omitted = Mutex<[Failure: Int]>([:])

    init(logger: Logger, eventLoop: any EventLoop, limits: ServerLimits) {
        self.logger = logger
        self.eventLoop = eventLoop
        interval = TimeAmount(limits.failureLineInterval)
    }

    /// Whether no failure was logged in the last interval.
    var isQuiet: Bool { omitted.withLock(\.isEmpty) }

    /// Logs the error of a request if its cause is the storage.
    ///
    /// - Parameter trace: The id that the client gave the request; empty for none.
    func report(_ error: LarderError, trace: String = "") {
        switch error.code {
        case .storageFailed, .storageFull, .notAStore:
            report(
                .error, "the storage failed: \(error.message)", ["code": error.code.name],
                trace: trace)
        default: break
        }
    }

    /// Logs that a user may not connect. A client whom a server refuses that stops or migrates its
    /// store only has to wait.
    func report(refusal: LarderError, of user: UInt32) {
        guard refusal.code != .unavailable else { return }
        report(
            .warning, "connection refused: \(refusal.message)",
            ["code": refusal.code.name, "uid": "\(user)"])
    }

    /// - Parameters:
    ///   - message: Equal for equal failures, without numbers that change.
    ///   - trace: That of the request, for the line if there is one; empty for none.
    func report(
        _ level: Logger.Level, _ message: String, _ metadata: [String: String] = [:],
        trace: String = ""
    ) {
        let failure = Failure(
            level: level, message: String(message.prefix(Self.messageCharactersMax)),
            metadata: metadata)
        let logged = omitted.withLock { omitted -> Failure? in
            let isCounted = omitted[failure] != nil || omitted.count < Self.failuresMax
            let failure = isCounted ? failure : .others
            guard let count = omitted[failure] else {
                omitted[failure] = 0
                return failure
            }
            omitted[failure] = count + 1
            return nil
        }
        if let logged { log(logged, omitted: 0, trace: trace) }
    }

    private func log(_ failure: Failure, omitted count: Int, trace: String = "") {
        var metadata = failure.metadata
        if !trace.isEmpty { metadata["trace"] = trace }
        if count > 0 { metadata["omitted"] = "\(count)" }
        logger.log(
            level: failure.level, "\(failure.message)",
            metadata: metadata.mapValues { .string($0) })
        eventLoop.scheduleTask(in: interval) { [weak self] in self?.intervalEnded(failure) }
    }

    private func intervalEnded(_ failure: Failure) {
        let count = omitted.withLock { omitted in
            let count = omitted[failure] ?? 0
            omitted[failure] = count > 0 ? 0 : nil
            return count
        }
        if count > 0 { log(failure, omitted: count) }
    }
}
