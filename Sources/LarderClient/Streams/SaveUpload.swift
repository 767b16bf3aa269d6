import LarderModel
internal import LarderWire

/// One attempt to save a change set in parts: which part is sent next, and what the replies mean.
///
/// It waits for nothing, so the blocking and the asynchronous form of a save share it. A few parts
/// may be in flight. The server begins the transaction when it has the last one.
struct SaveUpload {
    enum Step {
        /// The caller waits for another reply.
        case waits
        case saved(SaveResult)
        /// The whole set is sent again, over a new connection.
        case isRepeated
    }

    private let connection: Connection
    private let id: UInt64
    private var parts: ChangeSetParts
    private var sentCount: Int64 = 0
    private var acknowledgedCount: Int64 = 0
    private var isLastSent = false
    private var result = SaveResult()

    init(
        _ changes: ChangeSet, over connection: Connection, timeout: Duration
    ) throws(LarderError) {
        self.connection = connection
        parts = ChangeSetParts(changes)
        id = try connection.send(.saveInParts, .insertion, until: .after(timeout))
    }

    /// The request whose replies the caller waits for.
    var requestID: UInt64 { id }

    /// Sends as many parts as may be in flight.
    ///
    /// - Throws: errors of encoding, after which nothing is saved.
    mutating func sendParts() throws(LarderError) {
        while !isLastSent, sentCount - acknowledgedCount < Int64(Limits.unacknowledgedBatchesMax) {
            do throws(LarderError) {
                guard let part = try parts.next() else { return }
                try connection.sendWithoutReply(
                    .savePart(requestID: id, part.content, isLast: part.isLast))
                sentCount += 1
                isLastSent = part.isLast
            } catch {
                connection.cancel(id)
                throw error
            }
        }
    }

    /// - Throws: the error with which the save ends.
    mutating func process(
        _ outcome: Attempt.Outcome, _ attempt: inout Attempt, _ timeout: Duration
    ) throws(LarderError) -> Step {
        switch outcome {
        case .response(.reply(.savedPart(let part, let count))):
            acknowledgedCount = count
            append(part)
            return .waits
        case .response(.reply(.saved(let last))):
            var saved = last
            append(last)
            saved.inserted = result.inserted
            saved.updatedVersions = result.updatedVersions
            return .saved(saved)
        case .response(.reply(.failed)):
            _ = try attempt.resolve(outcome, now: .now)
            return .isRepeated
        case .response(.reply):
            connection.cancel(id)
            throw .unexpectedReply
        case .response(.lost(let error, _)):
            // Without the last part the server has begun nothing.
            _ = try attempt.resolve(
                .response(.lost(error, mayHaveRun: isLastSent)), now: .now)
            return .isRepeated
        case .timedOut:
            throw attempt.finalError(
                LarderError(.timeout, "the server did not reply within \(timeout)"),
                wasSent: isLastSent)
        case .cancelled:
            throw attempt.finalError(
                LarderError(.cancelled, "the call was cancelled"), wasSent: isLastSent)
        }
    }

    private mutating func append(_ part: SaveResult) {
        result.inserted += part.inserted
        result.updatedVersions += part.updatedVersions
    }
}
