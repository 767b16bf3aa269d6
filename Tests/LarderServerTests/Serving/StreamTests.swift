import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Results in several batches")
    struct StreamTests {
        /// The number of rows of a stream until its end, and of replies.
        private func take(_ peer: Peer, id: UInt64) throws -> (rows: Int, replies: Int) {
            var (rows, replies) = (0, 0)
            while let reply = try peer.receive() {
                #expect(reply.id == id)
                rows += try #require(reply.reply.rowCount)
                replies += 1
                if !reply.reply.hasMore { return (rows, replies) }
            }
            throw Peer.TimedOut(waitingFor: "last batch of the stream")
        }

        @Test("a large result arrives completely, in batches, and its reader is released")
        func large() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let id = try peer.send(.fetch("rows 1000000"))
                let (rows, replies) = try take(peer, id: id)
                #expect(rows == 1_000_000)
                #expect(replies == 123)
                #expect(try peer.call(.ping) == .pong)
                #expect(running.store.records[\.cursorsOpen] == 0)
            }
        }

        @Test("no batch of a stream above the credit is read before more is granted")
        func credit() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let id = try peer.send(.fetch("rows 1000000", credit: 2))
                for _ in 0..<2 { #expect(try peer.receive()?.id == id) }
                // A third batch would arrive before this reply, or be counted.
                let batches = running.store.records[\.batches]
                #expect(try peer.call(.ping) == .pong)
                #expect(running.store.records[\.batches] == batches)
                try peer.send(.credit(requestID: id, batches: .max))
                try peer.send(.credit(requestID: id, batches: .max))
                #expect(try take(peer, id: id).replies == 121)
            }
        }

        @Test("a cancelled stream ends with that error, and its reader is released")
        func cancel() async throws {
            let running = try RunningServer()
            let peer = try running.ready()
            let id = try peer.send(.fetch("rows 1000000", credit: 1))
            #expect(try peer.receive()?.reply.hasMore == true)
            try peer.send(.cancel(requestID: id))
            let end = try #require(try peer.receive())
            #expect(end.id == id && end.reply.errorCode == .cancelled)
            #expect(try peer.call(.ping) == .pong)
            await running.server.stop()
            #expect(running.store.records[\.cursorsOpen] == 0)
        }

        @Test(
            "an endless query stops when it is cancelled or its peer disconnects",
            .timeLimit(.minutes(10)))
        func cancelComputation() async throws {
            let running = try RunningServer()
            let (peer, leaver) = (try running.ready(), try running.ready())
            try leaver.send(.fetch("endless"))
            let id = try peer.send(.fetch("endless"))
            try peer.send(.cancel(requestID: id))
            #expect(try peer.receive()?.reply.errorCode == .cancelled)
            leaver.close()
            // If a thread were still busy, there would be no reply and the stop would not end.
            #expect(try peer.call(.fetch("heavy"))?.rowCount == 1)
            await running.server.stop()
        }

        @Test("a client that does not read gets a bounded number of batches, and others are served")
        func stalled() async throws {
            try await RunningServer.run { running in
                let (stalled, other) = (try running.ready(), try running.ready())
                let id = try stalled.send(.fetch("rows 10000000"))
                #expect(try stalled.receive()?.id == id)
                for _ in 0..<200 { #expect(try other.call(.fetch("rows 1"))?.rowCount == 1) }
                #expect(try other.call(.fetch("rows 100000"))?.hasMore == true)
                // The socket and the channel hold about a dozen of 1,221 batches.
                #expect(running.store.records[\.batches] < 300)
                #expect(try take(stalled, id: id).replies > 200)
            }
        }

        @Test("a stream that is not read in time ends because its snapshot expires")
        func expiry() async throws {
            try await RunningServer.run { limits in
                limits.readTimeMax = .milliseconds(30)
            } _: { running in
                let peer = try running.ready()
                // The time may be over before the first batch.
                var first: ReplyEnvelope
                repeat {
                    try peer.send(.fetch("rows 1000000", credit: 1))
                    first = try #require(try peer.receive())
                } while first.reply.errorCode == .timeout
                #expect(first.reply.hasMore)
                let end = try #require(try peer.receive())
                #expect(end.id == first.id && end.reply.errorCode == .snapshotExpired)
            }
        }

        @Test("a query ends with the timeout of its client, also while it is computed")
        func timeout() async throws {
            let gate = Gate()
            try await RunningServer.run(.init(slowReads: gate)) { running in
                let peer = try running.ready()
                #expect(
                    try peer.call(.fetch("slow"), timeoutMilliseconds: 20)?.errorCode == .timeout)
                gate.open()
                #expect(try peer.call(.ping) == .pong)
            }
        }

        @Test("a connection that closes releases the readers of its streams")
        func abandoned() async throws {
            let running = try RunningServer()
            let peer = try running.ready()
            _ = try peer.send(.fetch("rows 1000000", credit: 1))
            #expect(try peer.receive()?.reply.hasMore == true)
            #expect(running.store.records[\.cursorsOpen] == 1)
            peer.close()
            await running.server.stop()
            #expect(running.store.records[\.cursorsOpen] == 0)
            #expect(running.store.records[\.readersOpen] == 0)
        }

        @Test("a connection has at most its share of the readers, and its other reads wait")
        func share() async throws {
            try await RunningServer.run { limits in
                limits.readersPerConnectionMax = 2
            } _: { running in
                let peer = try running.ready()
                let first = try peer.send(.fetch("rows 100000", credit: 1))
                let second = try peer.send(.fetch("rows 100000", credit: 1))
                for _ in 0..<2 { #expect(try peer.receive()?.reply.hasMore == true) }
                let third = try peer.send(.fetch("rows 100000"))
                let other = try running.ready()
                #expect(try other.call(.fetch("rows 100000", credit: 1))?.hasMore == true)
                #expect(running.store.records[\.cursorsOpen] == 3)
                try peer.send(.cancel(requestID: first))
                #expect(try peer.receive()?.id == first)
                #expect(try take(peer, id: third).rows == 100_000)
                try peer.send(.credit(requestID: second, batches: 20))
                #expect(try take(peer, id: second).rows > 0)
            }
        }

        @Test("the long reads of one connection leave a thread to those of others")
        func fairness() async throws {
            let gate = Gate()
            try await RunningServer.run(.init(slowReads: gate)) { running in
                let (greedy, other) = (try running.ready(), try running.ready())
                for _ in 0..<4 { try greedy.send(.fetch("slow")) }
                gate.waitForArrival()
                #expect(try other.call(.fetch("heavy"))?.rowCount == 1)
                gate.open()
                for _ in 0..<4 { #expect(try greedy.receive()?.reply.rowCount == 1) }
            }
        }

        @Test("a read that waits too long for a reader fails")
        func noReader() async throws {
            try await RunningServer.run { limits in
                limits.readers = SharedLimit(1, userShare: 1)
                limits.readerWaitTimeMax = .milliseconds(20)
            } _: { running in
                let (first, second) = (try running.ready(), try running.ready())
                #expect(try first.call(.fetch("rows 100000", credit: 1))?.hasMore == true)
                #expect(try second.call(.fetch("rows 100000"))?.errorCode == .timeout)
            }
        }

        @Test("one waiting read above the maximum of a user is refused")
        func readsWaitingPerUser() async throws {
            try await RunningServer.run { limits in
                limits.readers = SharedLimit(1, userShare: 1)
                limits.readsWaiting = SharedLimit(2, userShare: 0.5)
            } _: { running in
                let (first, second) = (try running.ready(), try running.ready())
                #expect(try first.call(.fetch("rows 100000", credit: 1))?.hasMore == true)
                let waiting = try second.send(.fetch("rows 100000", credit: 1))
                let third = try running.ready()
                #expect(try second.call(.schema) == .schema(running.schemaText))
                #expect(try third.call(.fetch("rows 100000"))?.errorCode == .resourceExhausted)
                first.close()
                #expect(try second.receive()?.id == waiting)
            }
        }

        @Test("one waiting read above the maximum of the server is refused")
        func readsWaiting() async throws {
            try await RunningServer.run { limits in
                limits.readers = SharedLimit(1, userShare: 1)
                limits.readsWaiting = SharedLimit(1, userShare: 1)
            } _: { running in
                let (first, second) = (try running.ready(), try running.ready())
                #expect(try first.call(.fetch("rows 100000", credit: 1))?.hasMore == true)
                let waiting = try second.send(.fetch("rows 100000", credit: 1))
                #expect(
                    try second.call(.fetch("rows 100000"))?.errorCode == .resourceExhausted)
                first.close()
                #expect(try second.receive()?.id == waiting)
            }
        }
    }
}
