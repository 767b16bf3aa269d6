import LarderModel
import NIOCore

/// The quota of bytes that wait.
extension ConnectionHandler {
    /// Charges what the socket has not taken, and closes a connection with too much of it.
    func chargeOutput() {
        guard let context else { return }
        // A writable channel has less than a few batches waiting, which is not charged.
        let breach = quota.setOutput(isWritable ? 0 : Self.bufferedBytes(of: context.channel))
        watchStalledOutput()
        if let breach { perform(state.handle(.limitBreached(breach))) }
    }

    static func bufferedBytes(of channel: any Channel) -> Int {
        do {
            return try channel.syncOptions?.getOption(.bufferedWritableBytes) ?? 0
        } catch {
            // The channel has closed, so nothing waits in it.
            return 0
        }
    }

    /// Closes the connection if its replies stay above the soft maximum and its client reads
    /// nothing of them for too long.
    private func watchStalledOutput() {
        guard quota.isOutputAboveSoftMax else {
            stalledTimer?.cancel()
            stalledTimer = nil
            return
        }
        guard stalledTimer == nil, let context else { return }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let sentBytes = sentBytes
        stalledTimer = context.eventLoop.scheduleTask(
            in: TimeAmount(services.limits.queuedBytesSoftTimeMax)
        ) { bound.value.stalledTimeRanOut(since: sentBytes) }
    }

    /// The bytes of replies that the socket has taken.
    private var sentBytes: Int {
        repliedBytes - (context.map { Self.bufferedBytes(of: $0.channel) } ?? 0)
    }

    private func stalledTimeRanOut(since before: Int) {
        stalledTimer = nil
        guard sentBytes == before else { return chargeOutput() }
        perform(
            state.handle(
                .limitBreached(
                    LarderError(
                        .resourceExhausted, "replies have been waiting for too long",
                        hint: "read the replies while sending requests"))))
    }

    /// Charges the bytes that are no whole frame yet.
    func chargeInput() {
        if let breach = quota.setInput(input.byteCount) {
            perform(state.handle(.limitBreached(breach)))
        }
    }

    /// A request of this connection no longer takes memory.
    func requestEnded(_ bytes: Int) {
        // A closed connection has released its whole quota.
        guard context != nil else { return }
        quota.removeRequest(bytes)
    }
}
