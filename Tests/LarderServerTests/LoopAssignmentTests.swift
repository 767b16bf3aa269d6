import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("The event loops of connections")
    struct LoopAssignmentTests {
        /// The number of connections of each event loop of a server.
        private func counts(_ server: Server) -> [Int] {
            server.group.makeIterator().map { eventLoop in
                server.core.registry.open.count { $0.port.eventLoop === eventLoop }
            }
        }

        @Test("new connections are given to the event loops in turn")
        func turns() async throws {
            try await RunningServer.run(eventLoops: 3) { running in
                let peers = try (0..<7).map { _ in try running.ready() }
                #expect(counts(running.server).sorted() == [2, 2, 3])
                #expect(peers.count == 7)
            }
        }

        @Test("a new connection is given to the event loop that has the fewest")
        func fewest() async throws {
            try await RunningServer.run(eventLoops: 4) { running in
                // Every fourth connection has the same event loop.
                var peers = try (0..<16).map { _ in try running.ready() }
                for index in peers.indices where index % 4 != 1 { peers[index].close() }
                #expect(
                    eventually { running.server.loopAssignment.counts.sorted() == [0, 0, 0, 4] })
                peers += try (0..<12).map { _ in try running.ready() }
                #expect(counts(running.server) == [4, 4, 4, 4])
            }
        }

        @Test("connections stay spread evenly while they come and go at random")
        func random() {
            var generator = SeededGenerator.fromEnvironment("event loops")
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 5)
            let assignment = LoopAssignment(Array(group.makeIterator()))
            var open: [Int] = []
            for _ in 0..<2_000 {
                if open.isEmpty || Bool.random(using: &generator) {
                    let counts = (0..<5).map { index in open.count { $0 == index } }
                    let index = assignment.assign().index
                    #expect(counts[index] == counts.min())
                    open.append(index)
                } else {
                    let index = Int.random(in: open.indices, using: &generator)
                    assignment.release(open.remove(at: index))
                }
            }
            try? group.syncShutdownGracefully()
        }

        @Test("a server with one event loop gives it every connection")
        func one() async throws {
            try await RunningServer.run(eventLoops: 1) { running in
                let peers = try (0..<3).map { _ in try running.ready() }
                #expect(counts(running.server) == [peers.count])
            }
        }
    }
}
