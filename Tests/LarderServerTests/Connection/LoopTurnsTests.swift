import NIOCore
import NIOPosix
import Testing

@testable import LarderServer

@Suite("The turns of an event loop")
struct LoopTurnsTests {
    /// The steps of a test on the event loop.
    ///
    /// Sendable unchecked: used on that loop alone.
    private final class Rounds: @unchecked Sendable {
        let turns: LoopTurns
        /// The users whose turns have begun.
        var begun: [UInt32] = []

        init(_ eventLoop: any EventLoop, timeMax: TimeAmount) {
            turns = LoopTurns(eventLoop: eventLoop, timeMax: timeMax)
        }

        /// Runs a turn that takes at least this time.
        func run(for user: UInt32, _ time: TimeAmount) {
            turns.begin()
            let end = NIODeadline.now() + time
            while .now() < end {}
            turns.end(for: user)
        }

        /// Waits for a round, and then runs a turn.
        func append(for user: UInt32, _ time: TimeAmount) {
            turns.append(for: user) {
                self.begun.append(user)
                self.run(for: user, time)
            }
        }
    }

    private func onLoop(
        timeMax: TimeAmount, _ body: @escaping @Sendable (Rounds) -> Void,
        then check: @escaping @Sendable (Rounds) -> Bool
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let eventLoop = group.next()
        let rounds = Rounds(eventLoop, timeMax: timeMax)
        try await eventLoop.submit { body(rounds) }.get()
        // Scheduled after all rounds that are due, of which each may be followed by another.
        let end = ContinuousClock.now.advanced(by: .seconds(300))
        while try await !eventLoop.scheduleTask(in: .milliseconds(1), { check(rounds) })
            .futureResult.get(), ContinuousClock.now < end
        {}
        let isAsExpected = try await eventLoop.submit { check(rounds) }.get()
        #expect(isAsExpected)
        try await group.shutdownGracefully()
    }

    @Test("a user who has used up its time on an event loop waits, and other users do not")
    func times() async throws {
        try await onLoop(timeMax: .microseconds(100)) { rounds in
            rounds.turns.open(for: 1)
            rounds.turns.open(for: 2)
            #expect(rounds.turns.mayBegin(for: 1))
            rounds.run(for: 1, .microseconds(101))
            #expect(!rounds.turns.mayBegin(for: 1) && rounds.turns.mayBegin(for: 2))
            rounds.append(for: 1, .zero)
        } then: { rounds in
            rounds.begun == [1] && rounds.turns.mayBegin(for: 1)
        }
    }

    @Test("every user has its time in each round, whatever number of its connections wait")
    func rounds() async throws {
        try await onLoop(timeMax: .zero) { rounds in
            for user in [1, 1, 1, 2, 2] as [UInt32] {
                rounds.turns.open(for: user)
                rounds.append(for: user, .microseconds(10))
            }
        } then: { rounds in
            rounds.begun == [1, 2, 1, 2, 1]
        }
    }

    @Test("a lone user has four times the time, until another user opens a connection")
    func alone() async throws {
        try await onLoop(timeMax: .milliseconds(200)) { rounds in
            rounds.turns.open(for: 1)
            rounds.run(for: 1, .milliseconds(201))
            #expect(rounds.turns.mayBegin(for: 1))
            rounds.turns.open(for: 2)
            #expect(!rounds.turns.mayBegin(for: 1))
            rounds.turns.close(for: 2)
            #expect(rounds.turns.mayBegin(for: 1))
        } then: { _ in
            true
        }
    }

    @Test("a turn that was running when its user's time ended is over")
    func over() async throws {
        try await onLoop(timeMax: .microseconds(100)) { rounds in
            rounds.turns.open(for: 1)
            rounds.turns.open(for: 2)
            rounds.turns.begin()
            let end = NIODeadline.now() + .microseconds(101)
            while .now() < end {}
            #expect(rounds.turns.isOver(for: 1))
            #expect(!rounds.turns.isOver(for: 2))
        } then: { _ in
            true
        }
    }

    @Test("turns on an event loop do not begin for a user whose connections have closed")
    func closed() async throws {
        try await onLoop(timeMax: .zero) { rounds in
            rounds.turns.open(for: 1)
            rounds.append(for: 1, .zero)
            rounds.turns.close(for: 1)
            rounds.turns.open(for: 2)
            rounds.append(for: 2, .zero)
        } then: { rounds in
            rounds.begun == [2]
        }
    }
}
