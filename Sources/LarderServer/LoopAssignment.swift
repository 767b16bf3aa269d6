import NIOCore
import Synchronization

/// Gives each new connection to the event loop with the fewest, so that connections are spread
/// evenly over the processors however many come and go.
final class LoopAssignment: Sendable {
    private struct State {
        /// The open connections of each event loop.
        var counts: [Int]
        /// The last event loop that got a connection.
        var last: Int
    }

    private let eventLoops: [any EventLoop]
    private let state: Mutex<State>

    init(_ eventLoops: [any EventLoop]) {
        self.eventLoops = eventLoops
        state = Mutex(
            State(counts: eventLoops.map { _ in 0 }, last: eventLoops.count - 1))
    }

    /// Counts a new connection.
    ///
    /// - Returns: The event loop that gets it, and its index.
    func assign() -> (eventLoop: any EventLoop, index: Int) {
        let index = state.withLock { state in
            // Loops with the same number get connections in turn.
            let count = state.counts.count
            var best = (state.last + 1) % count
            for offset in 2..<max(2, count + 1) {
                let index = (state.last + offset) % count
                if state.counts[index] < state.counts[best] { best = index }
            }
            state.counts[best] += 1
            state.last = best
            return best
        }
        return (eventLoops[index], index)
    }

    /// The open connections of each event loop.
    var counts: [Int] { state.withLock { $0.counts } }

    /// A connection of the event loop has closed.
    func release(_ index: Int) { state.withLock { $0.counts[index] -= 1 } }
}
