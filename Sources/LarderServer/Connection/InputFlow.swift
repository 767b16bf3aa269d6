/// When a connection reads its socket, takes frames and sends replies: events in, actions out.
///
/// A connection takes frames during a turn. A turn ends when the time of its user on the event loop
/// is used up; the next turn begins after those of others (``LoopTurns``). No frame is taken,
/// and the socket is not read, while the connection accepts no requests (`acceptsFrames`, from
/// `ConnectionState`) or its client does not read its replies. Replies leave together: at the end
/// of a read cycle, or at the end of the event loop's current work.
///
/// It uses no sockets, bytes or clocks; `ConnectionHandler` performs its actions.
struct InputFlow {
    /// The input after a frame.
    enum Rest: Equatable {
        case nothing
        case bytes
        /// Bytes, but the time of the turn is used up.
        case bytesForNextTurn
    }

    enum Event: Equatable {
        /// The socket delivered bytes. A read cycle begins with this event.
        case bytesArrived
        /// The read cycle is over. `hasLoopAlone`: whether the connection has its event loop alone,
        /// so that its replies need not wait for those of others.
        case readCycleEnded(hasLoopAlone: Bool)
        /// The channel would read the socket.
        case readRequested
        /// The peer sends no more bytes.
        case inputEnded
        /// The socket takes replies, or no longer. `resumed` follows if it does.
        case writabilityChanged(isWritable: Bool)
        /// A frame was taken and its request has begun. `outputBytes` is the size of the replies
        /// that are not sent yet.
        case frameTaken(Rest, outputBytes: Int)
        /// The bytes that are left are no whole frame.
        case noFrame
        /// The connection may accept frames again.
        case resumed
        /// The turn that was scheduled may begin.
        case turnBegan
        case replyAppended
        /// All replies are passed to the channel now. Meanwhile the channel may report that the
        /// socket takes more, and more replies be appended.
        case flushBegins
        /// The replies have been passed to the channel.
        case flushed
        case closed
    }

    enum Action: Equatable {
        case nothing
        /// Take a frame, then report `frameTaken` or `noFrame`.
        case takeFrame
        /// Report to the connection's state that all input has been taken, then report `noFrame`.
        case endInput
        case readSocket
        /// Report `flushBegins`, send the replies, then report `flushed`.
        case flush
        /// Send the replies at the end of what the event loop does now.
        case scheduleFlush
        /// Send the replies, and report `turnBegan` when the user has time again.
        case scheduleTurn
    }

    private enum Turn: Equatable {
        /// No frame is being taken.
        case none
        /// Frames are being taken.
        case running
        /// The time is used up; the next turn is scheduled.
        case scheduled
    }

    private enum AfterFlush: Equatable {
        case nothing
        /// The turn continues with what `frameTaken` has left.
        case continueTurn(Rest)
    }

    /// More bytes of replies than this are sent before the next frame is taken.
    static let flushBytes = 256 << 10

    /// Whether the socket takes replies as fast as they come; false after the end.
    private(set) var isWritable = true
    private var turn = Turn.none
    private var isInReadCycle = false
    /// The channel has requested a read, which waits until input is accepted.
    private var isReadHeld = false
    private var hasInputEnded = false
    private var isEndReported = false
    private var hasOutput = false
    private var isFlushScheduled = false
    private var afterFlush = AfterFlush.nothing

    /// - Parameters:
    ///   - acceptsFrames: Whether the connection's state accepts another request now.
    ///   - mayBeginTurn: Whether the user has time on the event loop.
    mutating func handle(
        _ event: Event, acceptsFrames: Bool, mayBeginTurn: @autoclosure () -> Bool
    ) -> Action {
        let mayTakeFrames = acceptsFrames && isWritable
        switch event {
        case .bytesArrived:
            isInReadCycle = true
            return startTurn(mayTakeFrames, mayBeginTurn)
        case .readCycleEnded(let hasLoopAlone):
            isInReadCycle = false
            guard hasLoopAlone else { return scheduleFlush() }
            return hasOutput ? .flush : .nothing
        case .readRequested:
            isReadHeld = true
            return readIfHeld(mayTakeFrames)
        case .inputEnded:
            hasInputEnded = true
            return startTurn(mayTakeFrames, mayBeginTurn)
        case .writabilityChanged(let isWritable):
            self.isWritable = isWritable
            return .nothing
        case .resumed: return startTurn(mayTakeFrames, mayBeginTurn)
        case .turnBegan:
            turn = .none
            return startTurn(mayTakeFrames) { true }
        case .frameTaken(let rest, let outputBytes):
            if outputBytes >= Self.flushBytes {
                afterFlush = .continueTurn(rest)
                return .flush
            }
            return continueTurn(rest, mayTakeFrames)
        case .noFrame:
            guard hasInputEnded, !isEndReported, mayTakeFrames else {
                return endTurn(mayTakeFrames)
            }
            isEndReported = true
            return .endInput
        case .replyAppended:
            hasOutput = true
            return isInReadCycle ? .nothing : scheduleFlush()
        case .flushBegins:
            hasOutput = false
            isFlushScheduled = false
            return .nothing
        case .flushed:
            guard case .continueTurn(let rest) = afterFlush else { return .nothing }
            afterFlush = .nothing
            return continueTurn(rest, mayTakeFrames)
        case .closed:
            isWritable = false
            return .nothing
        }
    }

    private mutating func startTurn(
        _ mayTakeFrames: Bool, _ mayBeginTurn: () -> Bool
    ) -> Action {
        guard turn == .none, mayTakeFrames else { return .nothing }
        guard mayBeginTurn() else {
            turn = .scheduled
            return .scheduleTurn
        }
        turn = .running
        return .takeFrame
    }

    private mutating func continueTurn(_ rest: Rest, _ mayTakeFrames: Bool) -> Action {
        guard mayTakeFrames else { return endTurn(mayTakeFrames) }
        switch rest {
        case .nothing: return hasInputEnded ? .takeFrame : endTurn(mayTakeFrames)
        case .bytes: return .takeFrame
        case .bytesForNextTurn:
            turn = .scheduled
            return .scheduleTurn
        }
    }

    private mutating func endTurn(_ mayTakeFrames: Bool) -> Action {
        turn = .none
        return readIfHeld(mayTakeFrames)
    }

    private mutating func readIfHeld(_ mayTakeFrames: Bool) -> Action {
        guard isReadHeld, mayTakeFrames, turn != .scheduled else { return .nothing }
        isReadHeld = false
        return .readSocket
    }

    private mutating func scheduleFlush() -> Action {
        guard hasOutput, !isFlushScheduled else { return .nothing }
        isFlushScheduled = true
        return .scheduleFlush
    }
}
