import LarderModel
import NIOCore

/// The books on bytes that wait: answers that the peer does not take, writes, and frames that have
/// not come whole.
extension ConnectionHandler {
    static let userExhausted = LarderError(
        .resourceExhausted, "too many bytes of this user are waiting",
        hint: "take the answers that are waiting, or send fewer writes at once")

    /// Looks at how much the socket has not taken, and ends a connection that lets too much wait.
    ///
    /// While the channel is writable less waits than a few batches, which is not worth booking.
    func bookQueuedBytes() {
        guard let context else { return }
        let now = isWritable ? 0 : Self.bufferedBytes(of: context.channel)
        let change = now - queuedBytes
        guard change != 0 else { return }
        queuedBytes = now
        let isWithinUser = services.registry.book(change, user: user)
        watchStalled()
        if change > 0, !isWithinUser {
            perform(state.handle(.limitBreached(Self.userExhausted)))
        } else if now > services.limits.queuedBytesMax {
            perform(
                state.handle(
                    .limitBreached(
                        LarderError(
                            .resourceExhausted,
                            "more than \(services.limits.queuedBytesMax) bytes of answers wait",
                            hint: "read the answers while sending requests"))))
        }
    }

    private static func bufferedBytes(of channel: any Channel) -> Int {
        do {
            return try channel.syncOptions?.getOption(.bufferedWritableBytes) ?? 0
        } catch {
            // The channel has closed, and nothing waits in it any more.
            return 0
        }
    }

    /// Ends the connection if it stays above the soft bound for too long.
    private func watchStalled() {
        guard queuedBytes > services.limits.queuedBytesSoftMax else {
            stalledTimer?.cancel()
            stalledTimer = nil
            return
        }
        guard stalledTimer == nil, let context else { return }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        stalledTimer = context.eventLoop.scheduleTask(
            in: TimeAmount(services.limits.queuedBytesSoftTimeMax)
        ) { bound.value.stalledTimeRanOut() }
    }

    private func stalledTimeRanOut() {
        stalledTimer = nil
        bookQueuedBytes()
        guard queuedBytes > services.limits.queuedBytesSoftMax else { return }
        perform(
            state.handle(
                .limitBreached(
                    LarderError(
                        .resourceExhausted, "answers have waited for too long to be taken"))))
    }

    /// An unfinished frame below this is not worth booking.
    private static let unbookedInputBytesMax = 64 << 10

    /// Looks at how much has arrived that is no whole frame yet. A connection that has no handshake
    /// behind it may not send more than is left unbooked.
    func bookInputBytes() {
        let now = input.byteCount > Self.unbookedInputBytesMax ? input.byteCount : 0
        let change = now - inputBytes
        guard change != 0 else { return }
        inputBytes = now
        let isWithinUser = services.registry.book(change, user: user)
        if change > 0, !isWithinUser {
            perform(state.handle(.limitBreached(Self.userExhausted)))
        }
    }

    /// - Returns: false, with nothing booked, if the user has too much waiting already.
    func bookWrite(_ bytes: Int) -> Bool {
        guard services.registry.book(bytes, user: user) else {
            _ = services.registry.book(-bytes, user: user)
            return false
        }
        writeBytes += bytes
        return true
    }

    /// A write of so many bytes waits no longer.
    func writeLeft(_ bytes: Int) {
        // A connection that has closed took its bytes off the books when it did.
        guard context != nil else { return }
        writeBytes -= bytes
        _ = services.registry.book(-bytes, user: user)
    }
}
