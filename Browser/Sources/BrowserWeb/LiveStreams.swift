import BrowserViews
import HTMLPages
import Hummingbird
import LarderClient
import ServiceLifecycle
import Synchronization

/// The pages that follow changes: server-sent events, of which there is a bounded number.
final class LiveStreams: Sendable {
    static let countMax = 64
    /// The time after which it is checked that the server still answers.
    private static let quietTime = Duration.seconds(2)

    private let count = Mutex(0)

    /// Sends an event for each result of a live query, and says when the server does not answer.
    ///
    /// - Parameter events: What a result is to the page; called again for each.
    /// - Throws: ``BrowseError/tooManyStreams``.
    func response(
        to request: Request, of results: LiveResults, _ browse: Browse,
        _ event: @escaping @Sendable (LiveResult) async throws -> ServerSentEvent?
    ) throws(BrowseError) -> Response {
        guard begin() else { throw .tooManyStreams }
        let place = StreamPlace(streams: self)
        let hasty = browse.hastyClient
        let body = ResponseBody { writer in
            // The response holds the place until the browser has gone.
            defer { withExtendedLifetime(place) { results.cancel() } }
            try await writer.write(ByteBuffer(string: ": live\n\n"))
            try await request.body.consumeWithCancellationOnInboundClose { _ in
                var isLost = false
                for await step in Self.steps(of: results).cancelOnGracefulShutdown() {
                    let sent = await Self.answer(to: step, hasty, &isLost, event)
                    for event in sent { try await writer.write(ByteBuffer(string: event.text)) }
                    if sent.contains(where: \.isLast) { break }
                }
            }
            try await writer.finish(nil)
        }
        var headers = Response.protective
        headers[.contentType] = "text/event-stream"
        return Response(status: .ok, headers: headers, body: body)
    }

    private enum Step: Sendable {
        case result(LiveResult)
        case quiet
        case failed(LarderError)
    }

    /// The results, and a step whenever there was none for a while.
    private static func steps(of results: LiveResults) -> AsyncStream<Step> {
        AsyncStream {
            do throws(LarderError) {
                guard let result = try await results.next(timeout: quietTime) else {
                    return Task.isCancelled ? nil : .quiet
                }
                return .result(result)
            } catch {
                return error.code == .cancelled ? nil : .failed(error)
            }
        }
    }

    /// The events for a step.
    private static func answer(
        to step: Step, _ client: StoreClient, _ isLost: inout Bool,
        _ event: (LiveResult) async throws -> ServerSentEvent?
    ) async -> [ServerSentEvent] {
        do {
            switch step {
            case .failed(let error): return [ServerSentEvent("ended", error.sentence)]
            case .quiet: try await client.ping()
            case .result(let result):
                let made = try await event(result)
                let back = isLost ? [ServerSentEvent("back", "")] : []
                isLost = false
                return back + [made].compactMap { $0 }
            }
        } catch let error as LarderError where error.code.isOfConnection {
            defer { isLost = true }
            return isLost ? [.heartbeat] : [ServerSentEvent("lost", "")]
        } catch {
            let sentence = (error as? LarderError)?.sentence ?? "The page cannot be read."
            return [ServerSentEvent("ended", sentence)]
        }
        defer { isLost = false }
        return [isLost ? ServerSentEvent("back", "") : .heartbeat]
    }

    private func begin() -> Bool {
        count.withLock { count in
            guard count < Self.countMax else { return false }
            count += 1
            return true
        }
    }

    fileprivate func end() { count.withLock { $0 -= 1 } }
}

/// One of the streams that may exist at a time, until it is released.
private final class StreamPlace: Sendable {
    private let streams: LiveStreams

    init(streams: LiveStreams) { self.streams = streams }

    deinit { streams.end() }
}

extension ErrorCode {
    fileprivate var isOfConnection: Bool {
        switch self {
        case .connectionFailed, .unavailable, .timeout: true
        default: false
        }
    }
}

/// An event of a stream of server-sent events.
struct ServerSentEvent: Sendable {
    /// A comment, which shows that the stream is alive: writing it fails if the browser has gone.
    static let heartbeat = ServerSentEvent(name: nil, data: "")

    private let name: String?
    private let data: String

    private init(name: String?, data: String) {
        self.name = name
        self.data = data
    }

    init(_ name: String, _ data: String) { self.init(name: name, data: data) }

    init(_ name: String, _ html: HTML) { self.init(name: name, data: html.text) }

    /// Whether the stream ends with it.
    var isLast: Bool { name == "ended" || name == "gone" }

    /// The event in the format of the stream. Each line of its data is a line there.
    var text: String {
        guard let name else { return ":\n\n" }
        let lines = data.split(omittingEmptySubsequences: false) { $0.isNewline }
        return "event: \(name)\n" + lines.map { "data: \($0)\n" }.joined() + "\n"
    }
}
