import NIOCore

/// When a connection reads its socket, takes frames and sends replies: events in, actions out.
///
/// A connection takes frames during a turn. A turn ends when the time of one connection on its
/// event loop is used up; the next turn starts after the other work of the loop. No frame is taken,
/// and the socket is not read, while the connection accepts no requests (`acceptsFrames`, from
/// `ConnectionState`) or its client does not read its replies. Replies leave together: at the end
/// of a read cycle, or at the end of the event loop's current work.
///
/// It uses no sockets, bytes or clocks; `ConnectionHandler` performs its actions.
struct InputFlow {
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
        /// A frame was taken and its request has begun. `moreAt` is the current time if bytes are
        /// left, otherwise nil. `outputBytes` is the size of the replies that are not sent yet.
        case frameTaken(moreAt: NIODeadline?, outputBytes: Int)
        /// The bytes that are left are no whole frame.
        case noFrame
        /// The connection may accept frames again.
        case resumed
        /// The event loop has reached the turn that was scheduled.
        case turnBegan
        case replyAppended
        /// All replies have been passed to the channel.
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
        /// Send the replies, then report `flushed`.
        case flush
        /// Send the replies at the end of what the event loop does now.
        case scheduleFlush
        /// Send the replies, and report `turnBegan` after the other work of the event loop.
        case scheduleTurn
    }

    private enum Turn: Equatable {
        /// No frame is being taken.
        case none
        /// Frames are being taken; `end` is nil until the first one has been taken.
        case running(end: NIODeadline?)
        /// The time is used up; the next turn is scheduled.
        case scheduled
    }

    private enum AfterFlush: Equatable {
        case nothing
        /// The turn continues; the time is that of `frameTaken`.
        case continueTurn(moreAt: NIODeadline?)
    }

    /// More bytes of replies than this are sent before the next frame is taken.
    static let flushBytes = 256 << 10

    private let turnTime: TimeAmount
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

    init(turnTime: TimeAmount) { self.turnTime = turnTime }

    /// - Parameter acceptsFrames: Whether the connection's state accepts another request now.
    mutating func handle(_ event: Event, acceptsFrames: Bool) -> Action {
        let mayTakeFrames = acceptsFrames && isWritable
        switch event {
        case .bytesArrived:
            isInReadCycle = true
            return startTurn(mayTakeFrames)
        case .readCycleEnded(let hasLoopAlone):
            isInReadCycle = false
            guard hasLoopAlone else { return scheduleFlush() }
            return hasOutput ? .flush : .nothing
        case .readRequested:
            isReadHeld = true
            return readIfHeld(mayTakeFrames)
        case .inputEnded:
            hasInputEnded = true
            return startTurn(mayTakeFrames)
        case .writabilityChanged(let isWritable):
            self.isWritable = isWritable
            return .nothing
        case .resumed: return startTurn(mayTakeFrames)
        case .turnBegan:
            turn = .none
            return startTurn(mayTakeFrames)
        case .frameTaken(let moreAt, let outputBytes):
            if outputBytes >= Self.flushBytes {
                afterFlush = .continueTurn(moreAt: moreAt)
                return .flush
            }
            return continueTurn(moreAt, mayTakeFrames)
        case .noFrame:
            guard hasInputEnded, !isEndReported, mayTakeFrames else {
                return endTurn(mayTakeFrames)
            }
            isEndReported = true
            return .endInput
        case .replyAppended:
            hasOutput = true
            return isInReadCycle ? .nothing : scheduleFlush()
        case .flushed:
            hasOutput = false
            isFlushScheduled = false
            guard case .continueTurn(let moreAt) = afterFlush else { return .nothing }
            afterFlush = .nothing
            return continueTurn(moreAt, mayTakeFrames)
        case .closed:
            isWritable = false
            return .nothing
        }
    }

    private mutating func startTurn(_ mayTakeFrames: Bool) -> Action {
        guard turn == .none, mayTakeFrames else { return .nothing }
        turn = .running(end: nil)
        return .takeFrame
    }

    private mutating func continueTurn(_ moreAt: NIODeadline?, _ mayTakeFrames: Bool) -> Action {
        guard mayTakeFrames else { return endTurn(mayTakeFrames) }
        guard let moreAt else {
            return hasInputEnded ? .takeFrame : endTurn(mayTakeFrames)
        }
        // Measured from the end of the first frame, because a turn rarely has another.
        if case .running(let end?) = turn {
            guard moreAt < end else {
                turn = .scheduled
                return .scheduleTurn
            }
        } else {
            turn = .running(end: moreAt + turnTime)
        }
        return .takeFrame
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
