import LarderModel
import NIOCore
import NIOPosix
import Synchronization

/// A connection at the socket of the metrics: it gets one HTTP request, sends the response, and
/// closes.
///
/// It belongs to one event loop.
final class MetricsConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    typealias Collect = @Sendable (_ done: @escaping @Sendable ([MetricFamily]) -> Void) -> Void

    /// The length of the head of a request.
    static let headBytesMax = 8 << 10

    private let timeMax: TimeAmount
    private let collect: Collect
    private var head: [UInt8] = []
    private var hasRequest = false
    private var timer: Scheduled<Void>?

    init(timeMax: TimeAmount, collect: @escaping Collect) {
        self.timeMax = timeMax
        self.collect = collect
    }

    /// Serves the socket of a connection, of which it takes ownership.
    static func serve(
        _ socket: Int32, on eventLoop: any EventLoop, timeMax: TimeAmount,
        collect: @escaping Collect
    ) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: eventLoop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        MetricsConnection(timeMax: timeMax, collect: collect))
                }
            }
            .withConnectedSocket(socket)
    }

    func channelActive(context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: timeMax) {
            bound.value.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { timer?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasRequest else { return }
        // The end may begin in the bytes before these.
        let start = max(0, head.count - 3)
        head += unwrapInboundIn(data).readableBytesView
        if let end = Self.end(of: head, from: start), end <= Self.headBytesMax {
            respond(MetricsResponse.outcome(of: head[..<end]), context)
        } else if head.count > Self.headBytesMax {
            respond(.headTooLong, context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if !hasRequest, let event = event as? ChannelEvent, event == .inputClosed {
            context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// Where the head ends, before the empty line; nil if it is incomplete.
    private static func end(of bytes: [UInt8], from start: Int) -> Int? {
        let newline = UInt8(ascii: "\n")
        for index in start..<bytes.count where bytes[index] == newline {
            let before =
                index >= 1 && bytes[index - 1] == UInt8(ascii: "\r") ? index - 2 : index - 1
            guard before >= 0, bytes[before] == newline else { continue }
            return before >= 1 && bytes[before - 1] == UInt8(ascii: "\r") ? before - 1 : before
        }
        return nil
    }

    private func respond(_ outcome: MetricsResponse.Outcome, _ context: ChannelHandlerContext) {
        hasRequest = true
        head = []
        guard case .metrics = outcome else {
            return send(MetricsResponse.text(outcome), context)
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        collect { families in
            let text = MetricsResponse.text(outcome, metrics: PrometheusText.text(of: families))
            eventLoop.execute {
                let (connection, context) = bound.value
                connection.send(text, context)
            }
        }
    }

    private func send(_ text: String, _ context: ChannelHandlerContext) {
        let promise = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        promise.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
        context.writeAndFlush(
            wrapOutboundOut(context.channel.allocator.buffer(string: text)), promise: promise)
    }
}
