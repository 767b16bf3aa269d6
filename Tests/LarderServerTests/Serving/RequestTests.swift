import Glibc
import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Requests and their replies")
    struct RequestTests {
        @Test("the reply to the handshake has the store's identity and the server's limits")
        func handshake() async throws {
            try await RunningServer.run { running in
                guard case .welcome(let welcome)? = try running.connect().shakeHands() else {
                    Issue.record("no welcome")
                    return
                }
                #expect(welcome.storeIdentifier == running.store.storeDescription.identifier)
                #expect(welcome.serverName == "test")
                #expect(welcome.requestsInFlightMax == 32)
                #expect(welcome.frameBytesMax == 16 << 20)
            }
        }

        @Test("each request of the protocol gets its kind of reply")
        func kinds() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                #expect(try peer.call(.ping) == .pong)
                #expect(try peer.call(.schema) == .schema(running.schemaText))
                guard case .saved(let result)? = try peer.call(.insert(42)) else {
                    Issue.record("not saved")
                    return
                }
                #expect(try peer.call(.get(result.inserted, properties: nil))?.rowCount == 1)
                #expect(try peer.call(.fetch("rows 3"))?.rowCount == 3)
                guard case .query(let request) = try Request.fetch("rows 3"),
                    case .explained(let explanation)? = try peer.call(.explain(request))
                else {
                    Issue.record("not explained")
                    return
                }
                #expect(explanation.plan == "fake")
            }
        }

        @Test("the statistics are those of the store, then those of the server")
        func statistics() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                _ = try peer.call(.insert(1))
                for _ in 0..<3 { _ = try peer.call(.fetch("rows 1")) }
                guard case .statistics(let statistics)? = try peer.call(.statistics) else {
                    Issue.record("no statistics")
                    return
                }
                #expect(statistics.first == Statistic("objects", .int(1)))
                #expect(statistics.contains(Statistic("connections", .int(1))))
                #expect(statistics.contains(Statistic("requests", .int(5))))
                #expect(statistics.contains(Statistic("planCacheHits", .int(2))))
                #expect(statistics.contains(Statistic("planCacheMisses", .int(1))))
                #expect(statistics.contains(Statistic("saves", .int(1))))
            }
        }

        @Test("pipelined requests above the maximum in flight all get replies")
        func pipelining() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let requests = (1...500).map { (number: Int64) -> RequestEnvelope in
                    let request = number % 3 == 0 ? Request.insert(number) : Request.ping
                    return RequestEnvelope(id: UInt64(number) + 10, request: request)
                }
                try peer.send(requests)
                var replied: Set<UInt64> = []
                for _ in requests {
                    let reply = try #require(try peer.receive())
                    #expect(reply.reply.errorCode == nil)
                    replied.insert(reply.id)
                }
                #expect(replied == Set(requests.map(\.id)))
                #expect(running.store.records[\.numbers].count == 166)
            }
        }

        @Test("a plan is made once per query shape, or each time if it depends on arguments")
        func plans() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                for _ in 0..<5 { _ = try peer.call(.fetch("rows 2")) }
                #expect(running.store.records[\.plans] == 1)
                for _ in 0..<5 { _ = try peer.call(.fetch("rows 2 %K")) }
                #expect(running.store.records[\.plans] == 6)
            }
        }

        @Test("a cached object is read from the store again when it may have changed")
        func cachedReplies() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let records = running.store.records
                guard case .saved(let result)? = try peer.call(.insert(42)) else {
                    Issue.record("not saved")
                    return
                }
                let get = Request.get(result.inserted, properties: ["number"])
                func readCount(_ calls: Int) throws -> Int {
                    let before = records[\.objectReads]
                    for _ in 0..<calls {
                        let reply = try #require(try peer.call(get))
                        #expect(reply.rowCount == 1)
                    }
                    return records[\.objectReads] - before
                }
                #expect(try readCount(3) == 3)
                records.state.withLock { $0.stamp = 2 }
                #expect(try readCount(5) == 1)
                records.state.withLock { $0.stamp = nil }
                #expect(try readCount(2) == 2)
                records.state.withLock { $0.stamp = 4 }
                #expect(try readCount(5) == 1)
                #expect(try peer.metric("replyCacheHits") == 8)
                #expect(try peer.metric("requests") == 18)
            }
        }

        @Test("replies for missing objects and for several objects are not cached")
        func uncachedReplies() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                running.store.records.state.withLock { $0.stamp = 2 }
                let missing = Request.get([running.store.identifier(9)], properties: nil)
                for _ in 0..<4 { #expect(try peer.call(missing)?.rowCount == 0) }
                #expect(running.store.records[\.objectReads] == 4)
                _ = try peer.call(.insert(42))
                let two = [running.store.identifier(1), running.store.identifier(9)]
                for _ in 0..<4 { _ = try peer.call(.get(two, properties: nil)) }
                #expect(running.store.records[\.objectReads] == 8)
            }
        }

        @Test("writes that wait at the same time are committed together")
        func groupCommit() async throws {
            let gate = Gate()
            try await RunningServer.run(.init(writes: gate)) { running in
                let peer = try running.ready()
                try peer.send(.insert(0))
                gate.waitForArrival()
                for number in 1...10 as ClosedRange<Int64> { try peer.send(.insert(number)) }
                // The reply to a read that was sent after the writes: they have been queued.
                #expect(try peer.call(.schema) == .schema(running.schemaText))
                gate.open()
                for _ in 0...10 {
                    guard case .saved? = try peer.receive()?.reply else {
                        Issue.record("not saved")
                        return
                    }
                }
                #expect(running.store.records[\.groups] == [1, 10])
            }
        }

        @Test(
            "short writes that arrive while others are executed are committed with them",
            arguments: [
                (.ping, [7]),
                (.save(ChangeSet([.deleteAll(ObjectSelection("Item"))])), [4, 4]),
                (
                    .save(
                        ChangeSet(
                            (0..<500).map { number in
                                .insert(
                                    PersistentIdentifier(
                                        temporary: "\(number)", entityName: "Item"),
                                    values: ["number": .int(number)])
                            })), [4, 4]
                ),
            ] as [(Request, [Int])])
        func growingGroup(other: Request, groups: [Int]) async throws {
            let gate = Gate()
            try await RunningServer.run(.init(writes: gate, takesMore: true)) { running in
                let peer = try running.ready()
                try peer.send(.insert(0))
                gate.waitForArrival()
                for number in 1...3 as ClosedRange<Int64> { try peer.send(.insert(number)) }
                // A long one begins the next group, which the writes after it join.
                try peer.send(other)
                for number in 4...6 as ClosedRange<Int64> { try peer.send(.insert(number)) }
                #expect(try peer.call(.schema) == .schema(running.schemaText))
                gate.open()
                for _ in 0..<8 { #expect(try peer.receive() != nil) }
                #expect(running.store.records[\.groups] == groups)
            }
        }

        @Test("the store receives the source of a write from the kernel and the handshake")
        func sources() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                _ = try peer.call(.insert(1))
                #expect(
                    running.store.records[\.sources] == [
                        ChangeSource(
                            userIdentifier: getuid(), processIdentifier: getpid(),
                            clientName: "test")
                    ])
            }
        }

        @Test("a slow query delays neither its own connection nor another")
        func slowQuery() async throws {
            let gate = Gate()
            try await RunningServer.run(.init(slowReads: gate)) { running in
                let (first, second) = (try running.ready(), try running.ready())
                let slow = try first.send(.fetch("slow"))
                gate.waitForArrival()
                #expect(try first.call(.fetch("rows 2"))?.rowCount == 2)
                #expect(try second.call(.insert(1))?.errorCode == nil)
                gate.open()
                #expect(try first.receive()?.id == slow)
            }
        }

        @Test("a read that needs too much work moves to the pool")
        func heavy() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                for _ in 0..<3 { #expect(try peer.call(.fetch("heavy"))?.rowCount == 1) }
                let keys = (1...2_000).map { running.store.identifier($0) }
                #expect(try peer.call(.get(keys, properties: nil))?.rowCount == 0)
            }
        }

        @Test("the reply to a failed read is its error, and the connection stays open")
        func failure() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                #expect(try peer.call(.fetch("fails"))?.errorCode == .storageFailed)
                #expect(try peer.call(.ping) == .pong)
            }
        }

        @Test("a server of a read-only store refuses writes and replies to a ping")
        func readOnly() async throws {
            try await RunningServer.run(.init(isReadOnly: true)) { running in
                let peer = try running.ready()
                #expect(try peer.call(.insert(1))?.errorCode == .readOnly)
                #expect(try peer.call(.ping) == .pong)
            }
        }

        @Test("a write whose deadline passes in the queue is rejected unexecuted")
        func expiredWrite() async throws {
            let gate = Gate()
            try await RunningServer.run(.init(writes: gate)) { limits in
                // Only the turn of the write finds that its time is up.
                limits.expiryInterval = .seconds(3_600)
            } _: { running in
                let peer = try running.ready()
                let first = try peer.send(.insert(1))
                gate.waitForArrival()
                let late = try peer.send(.insert(2), timeoutMilliseconds: 1)
                #expect(try peer.call(.schema) == .schema(running.schemaText))
                let clock = ContinuousClock()
                let passed = clock.now.advanced(by: .milliseconds(2))
                while clock.now < passed { _ = try peer.call(.schema) }
                gate.open()
                #expect(try peer.receive()?.id == first)
                let reply = try #require(try peer.receive())
                #expect(reply.id == late && reply.reply.errorCode == .timeout)
                #expect(running.store.records[\.numbers].count == 1)
            }
        }

        @Test("a peer that has ended its output gets the replies to all its requests")
        func halfClose() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                for number in 0..<40 as Range<Int64> { try peer.send(.insert(number)) }
                peer.endOutput()
                for _ in 0..<40 { #expect(try peer.receive()?.reply.errorCode == nil) }
                #expect(try peer.receive() == nil)
            }
        }
    }
}
