import FoundationEssentials
import LarderModel
import LarderWire
import Testing

@testable import LarderClient

@Suite("Calls on one connection")
struct CallTests {
    @Test("every blocking call sends its request and reads its reply")
    func everyCall() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            try peer.serve(batchCount: 2)
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(try client.insert("Item", ["number": 1]) == .item(1))
        #expect(try client.update(.item(1), ["number": 2], ifVersion: 1) == 2)
        try client.delete(.item(1))
        let changes = ChangeSet([
            .insert(PersistentIdentifier(temporary: "a", entityName: "Item"), values: [:]),
            .delete(.item(4), ifVersion: nil),
        ])
        #expect(try client.save(changes) == SaveResult(inserted: [.item(1)], deletedCount: 1))
        #expect(try client.object(for: .item(7))?["number"] == 7)
        #expect(
            try client.objects(for: [.item(3), .item(2)]).map(\.identifier)
                == [.item(3), .item(2)])
        #expect(try client.fetch("Item").compactMap { $0["number"] } == (1...20).map { .int($0) })
        #expect(try client.aggregate("Item", [.count]).count == 20)
        #expect(try client.explain(.fetch(Fetch("Item"))).sql == "SELECT")
        #expect(try client.statistics() == [Statistic("objects", 3)])
        try client.ping()
        client.close()
    }

    @Test("a fetch whose snapshot ends is read again as a whole, over the same connection")
    func expiredSnapshot() async throws {
        let expired = LarderError(.snapshotExpired, "the log became too long")
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            var count = 0
            while let envelope = peer.receive() {
                count += 1
                try peer.reply(envelope.id, .batches([.items([1])], more: true))
                // The first attempt of each fetch fails, and all of the third one.
                guard count > 4 || count.isMultiple(of: 2) else {
                    try peer.reply(envelope.id, .failed(expired))
                    continue
                }
                try peer.reply(
                    envelope.id,
                    count > 4 ? .failed(expired) : .batches([.items([2])], more: false))
            }
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        func fetch() throws -> [Record] { try client.fetch("Item") }
        #expect(try fetch().map(\.identifier) == [.item(1), .item(2)])
        #expect(try await client.fetch("Item").map(\.identifier) == [.item(1), .item(2)])
        let error = #expect(throws: LarderError.self) { try fetch() }
        #expect(error?.code == .snapshotExpired && server.connectionCount == 1)
        client.close()
    }

    @Test("a save returns which of its inserts became updates, to a thread and to a task")
    func upserts() async throws {
        let result = SaveResult(inserted: [.item(7), .item(3)], transaction: 4, upserted: [1])
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let envelope = peer.receive() { try peer.reply(envelope.id, .saved(result)) }
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        let changes = ChangeSet(
            ["a", "b"].map {
                .insert(PersistentIdentifier(temporary: $0, entityName: "Item"), values: [:])
            }, onUniqueConflict: .upsert)
        let save: () throws -> SaveResult = { try client.save(changes) }
        #expect(try save() == result)
        #expect(try await client.save(changes) == result)
        client.close()
    }

    @Test("every call in a task sends its request and reads its reply")
    func everyCallInTask() async throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            try peer.serve(batchCount: 2)
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(try await client.insert("Item", ["number": 1]) == .item(1))
        #expect(try await client.update(.item(1), ["number": 2]) == 2)
        try await client.delete(.item(1))
        #expect(try await client.save(ChangeSet()) == SaveResult())
        #expect(try await client.object(for: .item(7))?["number"] == 7)
        #expect(try await client.objects(for: [.item(3)]).map(\.identifier) == [.item(3)])
        #expect(try await client.fetch("Item").count == 20)
        #expect(try await client.aggregate("Item", [.count]).count == 20)
        #expect(try await client.explain(.fetch(Fetch("Item"))).sql == "SELECT")
        #expect(try await client.statistics() == [Statistic("objects", 3)])
        try await client.ping()
        client.close()
    }

    @Test("the client's author is the author of change sets without one")
    func author() {
        func author(of set: ChangeSet) -> String? {
            guard case .save(let sent) = Operation.save(set).request(by: "client") else {
                return nil
            }
            return sent.author
        }
        #expect(author(of: ChangeSet()) == "client")
        #expect(author(of: ChangeSet(author: "own")) == "own")
        #expect(Operation<Void>.ping.request(by: "client") == .ping)
    }

    @Test("objects are returned in the order of their identifiers, without deleted ones")
    func missingObjects() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let request = peer.receive() {
                try peer.reply(
                    request.id, .batches([.items([2]), .items([9, 4])], more: false))
            }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let requested: [PersistentIdentifier] = [.item(4), .item(5), .item(2), .item(4)]
        #expect(
            try client.objects(for: requested).map(\.identifier) == [.item(4), .item(2), .item(4)])
        client.close()
    }

    @Test("reading an object that does not exist returns nil")
    func missingObject() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let request = peer.receive() {
                try peer.reply(request.id, .batches([], more: false))
            }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(try client.object(for: .item(1)) == nil)
        client.close()
    }

    @Test("eight threads get their own replies when these come in reverse order")
    func threads() async throws {
        let server = try reversingServer(groupSize: 8)
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        await inThreads(8) { number in
            for round in 0..<200 {
                let key = Int64(number * 1_000 + round + 1)
                let object = try client.object(for: .item(key))
                #expect(object?["number"] == .int(key))
            }
        }
        client.close()
        #expect(server.connectionCount == 1)
    }

    @Test("threads and tasks get their own replies when these come in reverse order")
    func threadsAndTasks() async throws {
        let server = try reversingServer(groupSize: 8)
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        try await withThrowingTaskGroup { group in
            for number in 0..<4 {
                group.addTask {
                    for round in 0..<200 {
                        let key = Int64(number * 1_000 + round + 1)
                        let object = try await client.object(for: .item(key))
                        #expect(object?["number"] == .int(key))
                    }
                }
            }
            await inThreads(4) { number in
                for round in 0..<200 {
                    let key = Int64(number * 1_000 + round + 500_000)
                    let object = try client.object(for: .item(key))
                    #expect(object?["number"] == .int(key))
                }
            }
            try await group.waitForAll()
        }
        client.close()
        #expect(server.connectionCount == 1)
    }

    @Test("hundreds of concurrent tasks all get replies")
    func manyTasks() async throws {
        let server = try reversingServer(groupSize: 50)
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        try await withThrowingTaskGroup { group in
            for key in 1...500 as ClosedRange<Int64> {
                group.addTask {
                    let object = try await client.object(for: .item(key))
                    #expect(object?["number"] == .int(key))
                }
            }
            try await group.waitForAll()
        }
        client.close()
    }

    @Test("a request larger than the socket's buffer is sent completely, and others after it")
    func largeRequests() async throws {
        let sizes = Recorder<Int>()
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let envelope = peer.receive() {
                if case .save(let changes) = envelope.request,
                    case .insert(_, let values, _)? = changes.changes.first,
                    case .data(let data)? = values["data"]
                {
                    sizes.append(data.count)
                }
                try peer.reply(to: envelope)
            }
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        let data = Value.data(Data(repeating: 7, count: 1 << 20))
        async let task = client.insert("Item", ["data": data])
        await inThreads(4) { number in
            #expect(try client.insert("Item", ["data": data]) == .item(1))
            try client.ping()
        }
        #expect(try await task == .item(1))
        #expect(sizes.entries == [Int](repeating: 1 << 20, count: 5))
        client.close()
    }

    @Test("a request longer than the server's maximum is refused before it is sent")
    func tooLong() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet(.sample(frameBytesMax: 1_000))
            try peer.serve()
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let text = Value.string(String(repeating: "x", count: 1_000))
        #expect(code { _ = try client.insert("Item", ["text": text]) } == .frameTooLong)
        try client.ping()
        client.close()
    }

    @Test("a reply of another kind is an error of its own call only")
    func otherKind() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let request = peer.receive() { try peer.reply(request.id, .pong) }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(code { _ = try client.statistics() } == .malformedMessage)
        #expect(code { _ = try client.count("Item") } == .malformedMessage)
        #expect(code { _ = try client.insert("Item", [:]) } == .malformedMessage)
        try client.ping()
        client.close()
    }

    @Test("the caller gets the server's error with its column and its hint")
    func serverError() throws {
        let error = LarderError(
            .malformedPredicate, "no such operator", hint: "try ==", column: 7)
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let request = peer.receive() { try peer.reply(request.id, .failed(error)) }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        do throws(LarderError) {
            _ = try client.fetch("Item", where: "a ~~ b")
            Issue.record("the error was lost")
        } catch let received {
            #expect(received == error)
        }
        client.close()
    }

    @Test("a count is the number in the one row of the result")
    func count() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let request = peer.receive() {
                try peer.reply(request.id, .batches([.total(42)], more: false))
            }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(try client.count("Item", where: "number > %@", arguments: [3]) == 42)
        client.close()
    }

    /// Replies to requests in groups of this size, in reverse order.
    private func reversingServer(groupSize: Int) throws -> ScriptedServer {
        try ScriptedServer { peer, _ in
            try peer.greet()
            var group: [RequestEnvelope] = []
            while let request = peer.receive() {
                group.append(request)
                guard group.count == groupSize else { continue }
                for request in group.reversed() { try peer.reply(to: request) }
                group = []
            }
        }
    }
}
