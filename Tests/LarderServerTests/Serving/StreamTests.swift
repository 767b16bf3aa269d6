import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Answers in several batches")
    struct StreamTests {
        /// Rows of a stream until its end; also how many replies it came in.
        private func take(_ peer: Peer, id: UInt64) throws -> (rows: Int, replies: Int) {
            var (rows, replies) = (0, 0)
            while let reply = try peer.receive() {
                #expect(reply.id == id)
                rows += try #require(reply.reply.rowCount)
                replies += 1
                if !reply.reply.hasMore { return (rows, replies) }
            }
            throw Peer.TimedOut()
        }

        @Test("a large answer comes whole, in batches, and its reader is given back")
        func large() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let id = try peer.send(.fetch("rows 1000000"))
                let (rows, replies) = try take(peer, id: id)
                #expect(rows == 1_000_000)
                #expect(replies == 33)
                #expect(try peer.call(.ping) == .pong)
                #expect(running.store.records[\.cursorsOpen] == 0)
            }
        }

        @Test("one batch past the credit is not sent before more is granted")
        func credit() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let id = try peer.send(.fetch("rows 1000000", credit: 2))
                for _ in 0..<2 { #expect(try peer.receive()?.id == id) }
                // Were a third batch on its way, it would come before this answer or be made.
                let batches = running.store.records[\.batches]
                #expect(try peer.call(.ping) == .pong)
                #expect(running.store.records[\.batches] == batches)
                try peer.send(.credit(requestID: id, batches: .max))
                try peer.send(.credit(requestID: id, batches: .max))
                #expect(try take(peer, id: id).replies == 31)
            }
        }

        @Test("a cancelled stream ends with that error, and its reader is given back")
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
            "a query that computes without end stops when it is cancelled or its peer has gone",
            .timeLimit(.minutes(1)))
        func cancelComputation() async throws {
            let running = try RunningServer()
            let (peer, leaver) = (try running.ready(), try running.ready())
            try leaver.send(.fetch("endless"))
            let id = try peer.send(.fetch("endless"))
            try peer.send(.cancel(requestID: id))
            #expect(try peer.receive()?.reply.errorCode == .cancelled)
            leaver.close()
            // Were a thread still busy, the answer would not come and the stop not end.
            #expect(try peer.call(.fetch("heavy"))?.rowCount == 1)
            await running.server.stop()
        }

        @Test("a peer that does not read is sent a bounded number of batches; others go on")
        func stalled() async throws {
            try await RunningServer.run { running in
                let (stalled, other) = (try running.ready(), try running.ready())
                let id = try stalled.send(.fetch("rows 10000000"))
                #expect(try stalled.receive()?.id == id)
                for _ in 0..<200 { #expect(try other.call(.fetch("rows 1"))?.rowCount == 1) }
                #expect(try other.call(.fetch("rows 100000"))?.hasMore == true)
                // 306 batches are the whole; the socket holds one or two, the channel a few.
                #expect(running.store.records[\.batches] < 300)
                #expect(try take(stalled, id: id).replies > 200)
            }
        }

        @Test("a stream that is not taken in time ends, its snapshot having expired")
        func expiry() async throws {
            try await RunningServer.run { limits in
                limits.readTimeMax = .milliseconds(30)
            } _: { running in
                let peer = try running.ready()
                let id = try peer.send(.fetch("rows 1000000", credit: 1))
                #expect(try peer.receive()?.reply.hasMore == true)
                let end = try #require(try peer.receive())
                #expect(end.id == id && end.reply.errorCode == .snapshotExpired)
            }
        }

        @Test("a query ends with its client's own time, also while it is being computed")
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

        @Test("a connection that closes gives its readers back")
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

        @Test("one connection holds only its share of the readers, and the rest wait for it")
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
                try peer.send(.credit(requestID: second, batches: 10))
                #expect(try take(peer, id: second).rows > 0)
            }
        }

        @Test("one connection's long reads leave a thread to another's")
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

        @Test("who waits for a reader for too long is told to try again")
        func noReader() async throws {
            try await RunningServer.run { limits in
                limits.readersMax = 1
                limits.readerWaitTimeMax = .milliseconds(20)
            } _: { running in
                let (first, second) = (try running.ready(), try running.ready())
                #expect(try first.call(.fetch("rows 100000", credit: 1))?.hasMore == true)
                #expect(try second.call(.fetch("rows 100000"))?.errorCode == .timeout)
            }
        }

        @Test("one read past those of a user that may wait for a reader is refused")
        func readsWaitingPerUser() async throws {
            try await RunningServer.run { limits in
                limits.readersMax = 1
                limits.readsWaitingPerUserMax = 1
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

        @Test("one read past those that may wait for a reader is refused")
        func readsWaiting() async throws {
            try await RunningServer.run { limits in
                limits.readersMax = 1
                limits.readsWaitingMax = 1
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
