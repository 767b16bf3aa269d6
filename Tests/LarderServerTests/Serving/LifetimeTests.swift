import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    /// The fake store computes until it is cancelled, so work that is not ended fails the test.
    @Suite("Work that nobody waits for")
    struct LifetimeTests {
        enum Kind: CaseIterable {
            case get, query, explain, check, snapshotRead, history, feed, liveQuery, backup
            case migration, workingCopy
        }

        enum End: CaseIterable {
            case close, cancel, stop
        }

        private static let endless = FakeStore.Options(isEndless: true, migration: .isEndless)

        private static func observe(_ limit: Int64) throws -> Request {
            let query = Query.fetch(Fetch("Item", sort: [SortKey("number")]))
            return .observe(ObserveRequest(try QueryRequest(query, QueryParameters(limit: limit))))
        }

        /// Sends a request of a kind.
        ///
        /// - Returns: the id of the request that computes.
        private static func begin(_ kind: Kind, _ peer: Peer, _ store: FakeStore) throws -> UInt64 {
            let query = try QueryRequest(Query.fetch(Fetch("Item", where: .format("rows 1"))))
            switch kind {
            case .get: return try peer.send(.get([store.identifier(1)], properties: nil))
            case .query: return try peer.send(.query(query))
            case .explain: return try peer.send(.explain(query))
            case .check: return try peer.send(.check)
            case .snapshotRead:
                let snapshot = try peer.send(.openSnapshot)
                guard case .snapshotOpened? = try peer.receive()?.reply else {
                    throw RunningServer.NotReached(description: "no snapshot was opened")
                }
                return try peer.send(.query(query), in: snapshot)
            case .history: return try peer.send(.history(HistoryRequest(HistoryFetch())))
            case .feed:
                return try peer.send(.history(HistoryRequest(HistoryFetch(), follows: true)))
            case .liveQuery: return try peer.send(observe(1))
            case .backup: return try peer.send(.backup(credit: 0))
            case .migration:
                return try peer.send(.migrate(.migrate(to: MigrationTests.schema)))
            case .workingCopy: return try peer.send(.migrate(.begin))
            }
        }

        @Test(
            "work for a client ends with its request, of each kind and each way to end",
            arguments: Kind.allCases, End.allCases)
        func table(_ kind: Kind, _ end: End) async throws {
            try await Self.perform(kind, end).expectRelease()
        }

        /// - Returns: the store, of which a server that has stopped keeps nothing.
        private static func perform(_ kind: Kind, _ end: End) async throws -> FormerStore {
            let running = try RunningServer(Self.endless) { $0.stopGraceTime = .milliseconds(20) }
            let outcome = Result {
                let peer = try running.ready()
                let id = try Self.begin(kind, peer, running.store)
                try running.wait(until: \.endless, is: 1)
                switch end {
                case .close: peer.close()
                case .cancel:
                    try peer.send(.cancel(requestID: id))
                    #expect(try Self.result(of: id, peer) == .cancelled)
                case .stop: return
                }
                try running.wait(until: \.endless, is: 0)
            }
            if case .failure = outcome { try outcome.get() }
            // This waits for everything that runs. A test that hangs here has found what does.
            await running.server.stop()
            #expect(running.store.records[\.endless] == 0)
            #expect(running.store.records[\.readersOpen] == 0)
            return FormerStore(running)
        }

        /// The code of the error with which a request ends, after other replies.
        private static func result(of id: UInt64, _ peer: Peer) throws -> ErrorCode? {
            while let envelope = try peer.receive() {
                if envelope.id == id, let code = envelope.reply.errorCode { return code }
            }
            return nil
        }

        @Test(
            "a read is answered with UNAVAILABLE when a stopping server has waited long enough"
        )
        func interrupted() async throws {
            for kind in [Kind.get, .query, .history, .check] {
                let running = try RunningServer(Self.endless) {
                    $0.stopGraceTime = .milliseconds(20)
                }
                let peer = try running.ready()
                let id = try Self.begin(kind, peer, running.store)
                try running.wait(until: \.endless, is: 1)
                async let stopped: Void = running.server.stop()
                #expect(try Self.result(of: id, peer) == .unavailable, "\(kind)")
                await stopped
            }
        }

        @Test("a write that runs when a server stops is answered, and so are those that wait")
        func interruptedWrites() async throws {
            let running = try RunningServer { $0.stopGraceTime = .milliseconds(20) }
            let peer = try running.ready()
            let endless = Request.save(
                ChangeSet([.deleteAll(ObjectSelection("Item", where: .format("endless")))]))
            let first = try peer.send(endless)
            try peer.wait(until: "longWrites", is: 1)
            let second = try peer.send(.insert(1))
            // The server has received it when it answers this.
            #expect(try peer.call(.schema)?.errorCode == nil)
            async let stopped: Void = running.server.stop()
            var codes: [UInt64: ErrorCode] = [:]
            while let envelope = try peer.receive() {
                codes[envelope.id] = envelope.reply.errorCode
            }
            await stopped
            #expect(codes[first] == .unavailable && codes[second] == .unavailable)
            #expect(running.store.records[\.numbers].isEmpty)
        }

        @Test("evaluations of observers that have gone neither run nor wait")
        func evaluations() async throws {
            try await RunningServer.run(Self.endless) { running in
                // The threads of one user are busy.
                let (watcher, stayer) = (try running.ready(as: 2), try running.ready())
                let peers = try (0..<4).map { _ in try running.ready() }
                for (number, peer) in peers.enumerated() {
                    for each in 0..<5 {
                        try peer.send(Self.observe(Int64(number * 10 + each + 1)))
                    }
                }
                try watcher.wait(until: "liveEvaluations", is: 2)
                try watcher.wait(until: "liveEvaluationsWaiting", is: 18)
                // One of them has another observer, and continues.
                try stayer.send(Self.observe(1))
                try stayer.send(.schema)
                _ = try stayer.receive()
                for peer in peers { peer.close() }
                try watcher.wait(until: "liveEvaluationsWaiting", is: 0)
                try watcher.wait(until: "liveEvaluations", is: 1)
                try watcher.wait(until: "liveQueries", is: 1)
                #expect(running.store.records[\.endless] == 1)
                stayer.close()
                try watcher.wait(until: "liveEvaluations", is: 0)
                try running.wait(until: \.endless, is: 0)
                #expect(try watcher.metric("poolReads") == 1)
            }
        }

        @Test("a check of the store may take longer than a query")
        func longCheck() async throws {
            try await RunningServer.run(Self.endless) { limits in
                limits.readTimeMax = .milliseconds(1)
            } _: { running in
                let (checking, other) = (try running.ready(), try running.ready())
                let check = try checking.send(.check)
                try running.wait(until: \.endless, is: 1)
                let query = try other.send(.fetch("rows 1"))
                #expect(try Self.result(of: query, other) == .timeout)
                try checking.send(.cancel(requestID: check))
                #expect(try Self.result(of: check, checking) == .cancelled)
            }
        }

        @Test("a read that waits for a reader waits no longer than its client")
        func waiting() async throws {
            try await RunningServer.run(Self.endless) { limits in
                limits.readersPerConnectionMax = 1
                limits.readerWaitTimeMax = .seconds(3_600)
            } _: { running in
                let (watcher, peer) = (try running.ready(as: 2), try running.ready())
                try peer.send(.check)
                try running.wait(until: \.endless, is: 1)
                let waiting = try peer.send(.check)
                try watcher.wait(until: "poolReadsWaiting", is: 1)
                try peer.send(.cancel(requestID: waiting))
                #expect(try Self.result(of: waiting, peer) == .cancelled)
                try watcher.wait(until: "poolReadsWaiting", is: 0)
                try peer.send(.check)
                try watcher.wait(until: "poolReadsWaiting", is: 1)
                peer.close()
                try watcher.wait(until: "poolReadsWaiting", is: 0)
                try running.wait(until: \.endless, is: 0)
            }
        }
    }
}
