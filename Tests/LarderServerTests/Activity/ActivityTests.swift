import Glibc
import LarderModel
import LarderWire
import TestSupport
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("What the server is doing")
    struct ActivityTests {
        private func activity(_ peer: Peer) throws -> ServerActivity {
            guard case .activity(let activity)? = try peer.call(.activity) else {
                throw LarderError(.malformedMessage, "no activity")
            }
            return activity
        }

        @Test("the activity lists the connections of all event loops in the order of opening")
        func connections() async throws {
            try await RunningServer.run(eventLoops: 2) { running in
                let peers = try (1...5).map { try running.ready(as: $0) }
                _ = try peers[1].call(.fetch("rows 1"))
                let list = try activity(peers[0]).connections
                #expect(list.map(\.source.userIdentifier) == [1, 2, 3, 4, 5])
                #expect(list.map(\.id) == list.map(\.id).sorted())
                #expect(Set(list.map(\.source.clientName)) == ["test"])
                #expect(list.map(\.requestCount) == [1, 1, 0, 0, 0])
                #expect(list.map(\.requestsInFlight) == [1, 0, 0, 0, 0])
                #expect(list.allSatisfy { $0.opened.timeIntervalSinceNow > -600 })
                peers[4].close()
                try peers[0].wait(until: "connections", is: 4)
                #expect(
                    try activity(peers[0]).connections.map(\.source.userIdentifier)
                        == [1, 2, 3, 4])
            }
        }

        @Test("the activity is reported while all readers and the writer are busy")
        func busy() async throws {
            let (reads, writes) = (Gate(), Gate())
            try await RunningServer.run(.init(slowReads: reads, writes: writes)) { limits in
                limits.readersPerConnectionMax = 1
            } _: { running in
                let (reader, writer) = (try running.ready(), try running.ready())
                try reader.send(.fetch("slow"))
                reads.waitForArrival()
                try reader.send(.fetch("slow"))
                try writer.send(.insert(1))
                writes.waitForArrival()
                try writer.send(.insert(2))
                // The replies to later requests of the connections are later than these.
                #expect(try reader.call(.schema) == .schema(running.schemaText))
                #expect(try writer.call(.schema) == .schema(running.schemaText))
                let activity = try activity(running.ready())
                #expect(activity.load.readsRunning == 1)
                #expect(activity.load.readsWaiting == 1)
                #expect(activity.load.writesWaiting == 1)
                #expect(activity.load.logByteCount == 4_096)
                #expect(activity.connections.map(\.requestsInFlight) == [2, 2, 1])
                #expect(activity.connections[0].memoryByteCount > 0)
                reads.open()
                writes.open()
                for peer in [reader, writer] {
                    for _ in 0..<2 { #expect(try peer.receive()?.reply.errorCode == nil) }
                }
                let later = try self.activity(reader)
                #expect(later.load.saveCount == 2)
                #expect(later.load.requestCount > activity.load.requestCount)
                #expect(later.load.started == activity.load.started)
            }
        }

        @Test("the activity has the newest slow reads, with the text of a user's own queries only")
        func slowReads() async throws {
            try await RunningServer.run { limits in
                limits.slowReadTimeMin = .zero
                limits.slowReadsMax = 2
            } _: { running in
                let (first, second) = (try running.ready(as: 1), try running.ready(as: 2))
                _ = try first.call(.fetch("heavy 1"))
                _ = try first.call(.fetch("heavy 2"))
                _ = try second.call(.fetch("heavy 3"))
                func queries(as user: UInt32) throws -> [String?] {
                    try activity(running.ready(as: user)).slowReads.map(\.query)
                }
                let texts = ["fetch where heavy 2", "fetch where heavy 3"]
                #expect(try queries(as: 1) == [texts[0], nil])
                #expect(try queries(as: 2) == [nil, texts[1]])
                #expect(try queries(as: 3) == [nil, nil])
                #expect(try queries(as: 0) == texts)
                #expect(try queries(as: geteuid()) == texts)
                let read = try #require(try activity(second).slowReads.last)
                #expect(read.entityName == "Item")
                #expect(read.source.userIdentifier == 2)
                #expect(read.seconds > 0)
            }
        }

        @Test("a slow query is a line of the log with its plan, if the limit says so")
        func slowQueryLog() async throws {
            for (timeMin, isLogged) in [(nil, false), (.zero, true), (.seconds(60), false)]
                as [(Duration?, Bool)]
            {
                let log = RecordedLog()
                try await RunningServer.run(logger: log.logger) { limits in
                    limits.slowReadLogTimeMin = timeMin
                } _: { running in
                    let peer = try running.ready(as: 7)
                    try peer.send(.fetch("heavy"), trace: "00-1f-2e-01")
                    #expect(try peer.receive()?.reply.errorCode == nil)
                }
                let lines = zip(log.messages, log.metadata).filter { $0.0 != "stopped" }
                #expect(lines.map(\.0) == (isLogged ? ["slow query: fetch where heavy"] : []))
                guard let metadata = lines.first?.1 else { continue }
                #expect(metadata["plan"] == "SCAN items; USE TEMP B-TREE")
                #expect(metadata["entity"] == "Item" && metadata["rows"] == "1")
                #expect(metadata["uid"] == "7" && metadata["client"] == "test")
                #expect(metadata["milliseconds"].flatMap { Int($0) } != nil)
                #expect(metadata["trace"] == "00-1f-2e-01")
                #expect(metadata["steps"] == "0" && metadata["scannedRows"] == "0")
            }
        }

        @Test("a fast read, and a read on the event loop, are not listed as slow reads")
        func fastReads() async throws {
            try await RunningServer.run { limits in
                limits.slowReadTimeMin = .seconds(60)
            } _: { running in
                let peer = try running.ready()
                _ = try peer.call(.fetch("heavy"))
                #expect(try activity(peer).slowReads.isEmpty)
            }
            try await RunningServer.run { limits in
                limits.slowReadTimeMin = .zero
            } _: { running in
                let peer = try running.ready()
                _ = try peer.call(.fetch("rows 1"))
                #expect(try activity(peer).slowReads.isEmpty)
            }
        }

        @Test("running requests are listed with their text for their user and root")
        func running() async throws {
            let gate = Gate()
            try await RunningServer.run(.init(slowReads: gate)) { running in
                let peer = try running.ready(as: 7)
                let id = try peer.send(.fetch("slow"), trace: "t-1")
                gate.waitForArrival()
                // The long reads of one connection run one after the other.
                let other = try running.ready(as: 7)
                let snapshot = try other.send(.openSnapshot)
                #expect(try other.receive()?.reply.errorCode == nil)
                let users: [UInt32] = [7, 0, 8]
                let activities = try users.map { try activity(running.ready(as: $0)) }
                // A test that fails must not wait for the gate.
                gate.open()
                let texts = ["fetch where slow", "fetch where slow", nil]
                for (activity, text) in zip(activities, texts) {
                    let list = activity.running
                    #expect(list.map(\.request) == [id, snapshot])
                    #expect(list.map(\.kind) == ["query", "open_snapshot"])
                    #expect(list.map(\.entityName) == ["Item", ""])
                    #expect(list.map(\.query) == [text, nil])
                    #expect(list.map(\.trace) == [text == nil ? "" : "t-1", ""])
                    #expect(list.allSatisfy { $0.source.userIdentifier == 7 })
                    #expect(list.map(\.connection) == activity.connections.prefix(2).map(\.id))
                    #expect(list.allSatisfy { $0.started <= activity.load.time })
                }
                #expect(try peer.receive()?.reply.errorCode == nil)
                #expect(try activity(running.ready(as: 8)).running.map(\.request) == [snapshot])
            }
        }

        @Test("the log has the trace of a request that fails or is ended by another user")
        func tracesOfFailures() async throws {
            let log = RecordedLog()
            try await RunningServer.run(logger: log.logger) { running in
                let peer = try running.ready(as: 7)
                try peer.send(.fetch("fails"), trace: "t-disk")
                #expect(try peer.receive()?.reply.errorCode == .storageFailed)
                let id = try peer.send(.fetch("endless"), trace: "t-ended")
                let root = try running.ready(as: 0)
                var number: Int64 = 0
                #expect(
                    try eventually {
                        let list = try activity(root).running
                        number = list.first?.connection ?? 0
                        return list.map(\.request) == [id]
                    })
                _ = try root.call(.endRequests(connection: number, request: id))
                #expect(try peer.receive()?.reply.errorCode == .cancelled)
            }
            let lines = Dictionary(
                zip(log.messages, log.metadata).filter { $0.1["trace"] != nil }
            ) { $1 }
            #expect(lines["the storage failed: the disk is gone"]?["trace"] == "t-disk")
            #expect(
                lines["request ended on request"] == [
                    "trace": "t-ended", "kind": "query", "uid": "7", "by": "0",
                    "pid": lines["request ended on request"]?["pid"] ?? "",
                ])
        }

        @Test("a user ends its own requests from another connection, and root those of all")
        func ending() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready(as: 7)
                for (ender, error) in [(7, nil), (0, nil), (8, .permissionDenied)]
                    as [(UInt32, ErrorCode?)]
                {
                    let id = try peer.send(.fetch("endless"))
                    let other = try running.ready(as: ender)
                    var number: Int64 = 0
                    #expect(
                        try eventually {
                            let list = try activity(other).running
                            number = list.first?.connection ?? 0
                            return list.map(\.request) == [id]
                        })
                    let reply = try other.call(.endRequests(connection: number, request: id))
                    if let error {
                        #expect(reply?.errorCode == error)
                        try peer.send(.cancel(requestID: id))
                    } else {
                        #expect(reply == .requestsEnded(1))
                    }
                    #expect(try peer.receive()?.reply.errorCode == .cancelled)
                    #expect(
                        try other.call(.endRequests(connection: 1_000, request: 0))
                            == .requestsEnded(0))
                }
            }
        }

        @Test("all running requests of a connection end together, and the connection stays")
        func endingAll() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready(as: 7)
                for _ in 0..<2 { try peer.send(.fetch("endless")) }
                let root = try running.ready(as: 0)
                let connection = try #require(try activity(root).connections.first?.id)
                #expect(try eventually { try activity(root).running.count == 2 })
                #expect(
                    try root.call(.endRequests(connection: connection, request: 0))
                        == .requestsEnded(2))
                for _ in 0..<2 {
                    #expect(try peer.receive()?.reply.errorCode == .cancelled)
                }
                #expect(try peer.call(.schema) == .schema(running.schemaText))
                #expect(try activity(root).running.isEmpty)
            }
        }
    }
}
