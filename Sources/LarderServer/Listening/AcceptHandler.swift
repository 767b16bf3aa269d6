internal import Logging
import NIOCore

/// Keeps a listener open when the process runs out of descriptors or memory.
///
/// NIO reports such an error and accepts again at once, as long as clients are waiting; so this
/// handler pauses accepting briefly. Clients wait in the kernel's queue.
final class AcceptHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    static let pause = TimeAmount.milliseconds(100)

    private let logger: Logger
    private var isPaused = false
    /// Whether the current shortage was reported. It is over when a connection is accepted.
    private var isReported = false

    init(logger: Logger) { self.logger = logger }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReported = false
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isPaused else { return }
        isPaused = true
        report(error)
        setAutoRead(false, context.channel)
        let channel = context.channel
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.pause) {
            handler.value.isPaused = false
            handler.value.setAutoRead(true, channel)
        }
    }

    private func report(_ error: any Error) {
        let level: Logger.Level = isReported ? .debug : .warning
        isReported = true
        logger.log(level: level, "cannot accept connections now: \(error)")
    }

    private func setAutoRead(_ isOn: Bool, _ channel: any Channel) {
        do {
            try channel.syncOptions?.setOption(.autoRead, value: isOn)
        } catch {
            logger.debug("the listener has closed: \(error)")
        }
    }
}
