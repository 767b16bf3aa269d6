import HTMLPages
import Hummingbird
import ServiceLifecycle
import TodoViews

/// An event of a stream of server-sent events.
struct ServerSentEvent {
    /// Nil for the event that a page receives as a message.
    var name: String?
    var data: String

    init(_ frame: Window.Frame?, of window: Window) {
        name = frame == nil ? "gone" : nil
        data = frame?.view.text ?? window.kind.map(deletionNotice)?.text ?? ""
    }

    /// The event in the format of the stream. Each line of its data is a line there.
    var text: String {
        let lines = data.split(omittingEmptySubsequences: false) { $0.isNewline }
        return (name.map { "event: \($0)\n" } ?? "")
            + lines.map { "data: \($0)\n" }.joined() + "\n"
    }
}

extension Response {
    /// A response that sends the views of a window until the browser closes the connection.
    static func events(
        of window: Window, _ frames: some AsyncSequence<Window.Frame?, Never> & Sendable,
        for request: Request
    ) -> Response {
        let body = ResponseBody { writer in
            try await request.body.consumeWithCancellationOnInboundClose { _ in
                for await frame in frames.cancelOnGracefulShutdown() {
                    let event = ServerSentEvent(frame, of: window)
                    try await writer.write(ByteBuffer(string: event.text))
                }
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }
}
