import LarderModel

/// Waiting in a thread: as the reader of the socket, or as a follower while another one reads.
extension Connection {
    private enum Turn {
        case done(Attempt.Outcome)
        case read
        case follow
    }

    /// The next answer to a request. Blocks until it is there, or the deadline.
    func outcome(
        of id: UInt64, until deadline: Moment
    ) -> Attempt.Outcome {
        var follower: Follower?
        var reading: ReplyReader.Reading?
        // The clock is read only after something has been waited for.
        var hasWaited = false
        while true {
            let turn = update { state -> Turn in
                let reads = reading != nil
                if let reading { absorb(reading, &state) }
                reading = nil
                let turn = nextTurn(id, hasWaited ? deadline : nil, reads: reads, &state)
                if let follower { state.followers.removeAll { $0 === follower } }
                switch turn {
                case .read:
                    state.reader = .thread
                case .done:
                    if reads || state.reader == .nobody { state.passReaderOn() }
                case .follow:
                    let waiting = follower ?? Follower(id: id)
                    waiting.isCalled = false
                    state.followers.append(waiting)
                    follower = waiting
                }
                return turn
            }
            switch turn {
            case .done(let outcome): return outcome
            case .read: reading = reader.read(until: deadline)
            case .follow: if let follower { wait(follower, until: deadline) }
            }
            hasWaited = true
        }
    }

    /// - Parameter deadline: nil at the first turn, which waits in any case.
    private func nextTurn(
        _ id: UInt64, _ deadline: Moment?, reads: Bool, _ state: inout State
    ) -> Turn {
        if let outcome = take(id, &state) { return .done(outcome) }
        if let deadline, deadline.isPast {
            return .done(.timedOut(wasSent: abandon(id, &state)))
        }
        return reads || state.reader == .nobody ? .read : .follow
    }
}
