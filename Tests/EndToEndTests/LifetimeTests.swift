import FoundationEssentials
import LarderClient
import Synchronization
import Testing

@Suite("Restarts and crashes of the daemon")
struct LifetimeTests {
    @Test("clients wait for a daemon that restarts, and continue")
    func restart() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let written = Mutex<[PersistentIdentifier]>([])
        for round in 0..<3 {
            #expect(daemon.stop() == 0, "\(daemon.errors)")
            inThreads(5) { number in
                if number == 0 { return try daemon.start() }
                let student = try client.insert(
                    "Student", ["name": "Ann", "birthOfYear": .int(Int64(number))])
                #expect(try client.object(for: student) != nil)
                written.withLock { $0.append(student) }
            }
            #expect(try client.count("Student") == Int64(4 * (round + 1)))
        }
        let identifiers = written.withLock { $0 }
        #expect(try client.objects(for: identifiers).count == 12)
        #expect(daemon.stop() == 0)
    }

    @Test("tasks wait for a daemon that restarts")
    func restartUnderTasks() async throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let ann = try await client.insert("Student", ["name": "Ann", "birthOfYear": 2_001])
        #expect(daemon.stop() == 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let name = Value.string("Ann \(number)")
                    _ = try await client.update(ann, ["name": name])
                }
            }
            try daemon.start()
            try await group.waitForAll()
        }
        #expect(try await client.object(for: ann)?.version == 9)
    }

    @Test("a stop of the daemon under load loses no write and repeats none")
    func stopUnderLoad() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let (acknowledged, isOver, ended) = (Counter(), Counter(), Counter())
        inThreads(5) { number in
            if number == 0 {
                defer { isOver.add(1) }
                for _ in 0..<3 {
                    let before = acknowledged.value
                    while acknowledged.value < before + 20, ended.value == 0 { try client.ping() }
                    #expect(daemon.stop() == 0, "\(daemon.errors)")
                    try daemon.start()
                }
                return
            }
            defer { ended.add(1) }
            while isOver.value == 0 {
                _ = try client.insert("Student", ["name": "Ann", "birthOfYear": 1])
                acknowledged.add(1)
            }
        }
        #expect(try client.count("Student") == acknowledged.value)
        #expect(acknowledged.value >= 60)
    }

    @Test("acknowledged writes survive kill -9, and only attempted ones exist")
    func killed() throws {
        let daemon = try TestDaemon()
        let acknowledged = Mutex<[PersistentIdentifier]>([])
        let attempts = Counter()
        for _ in 0..<4 {
            let client = try daemon.connect(reconnectWait: .zero)
            let (observer, ended) = (try daemon.connect(), Counter())
            inThreads(4) { number in
                if number == 0 {
                    // Kill the daemon only after the other threads have written.
                    let before = try observer.count("Student")
                    while try observer.count("Student") < before + 20, ended.value == 0 {}
                    return daemon.kill()
                }
                defer { ended.add(1) }
                while true {
                    attempts.add(1)
                    do {
                        let student = try client.insert(
                            "Student", ["name": "Ann", "birthOfYear": 1])
                        acknowledged.withLock { $0.append(student) }
                    } catch let error as LarderError {
                        #expect([.indeterminate, .connectionFailed].contains(error.code))
                        return
                    }
                }
            }
            try daemon.start()
            let survivor = try daemon.connect()
            let identifiers = acknowledged.withLock { $0 }
            #expect(try survivor.objects(for: identifiers).count == identifiers.count)
            let count = try survivor.count("Student")
            #expect(count >= Int64(identifiers.count) && count <= attempts.value)
        }
    }

    @Test("a write with an idempotency key has the same result after kill -9")
    func keyedResultAfterKill() throws {
        let daemon = try TestDaemon()
        let observer = try daemon.connect()
        let set = ChangeSet(
            [
                .insert(
                    PersistentIdentifier(temporary: "a", entityName: "Student"),
                    values: ["name": "Ann", "birthOfYear": 1])
            ], idempotencyKey: "once")
        let victim = try daemon.connect(reconnectWait: .zero)
        let first = try victim.save(set)
        daemon.kill()
        try daemon.start()
        #expect(try observer.save(set) == first)
        #expect(try observer.count("Student") == 1)
        #expect(
            failure { _ = try observer.save(ChangeSet(idempotencyKey: "once")) }?.code
                == .idempotencyMismatch)
    }

    @Test("writes with idempotency keys continue after kill -9, and each is executed once")
    func killedOften() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let written = Mutex<Set<PersistentIdentifier>>([])
        let (acknowledged, isOver, ended) = (Counter(), Counter(), Counter())
        inThreads(5) { number in
            if number == 0 {
                defer { isOver.add(1) }
                for _ in 0..<6 {
                    let before = acknowledged.value
                    while acknowledged.value < before + 15, ended.value == 0 { try client.ping() }
                    daemon.kill()
                    try daemon.start()
                }
                return
            }
            defer { ended.add(1) }
            while isOver.value == 0 {
                let student = try client.insert(
                    "Student", ["name": "Ann", "birthOfYear": 1],
                    idempotencyKey: UUID().uuidString)
                written.withLock { _ = $0.insert(student) }
                acknowledged.add(1)
            }
        }
        #expect(written.withLock { Int64($0.count) } == acknowledged.value)
        #expect(try client.count("Student") == acknowledged.value)
        #expect(acknowledged.value >= 90, "\(daemon.errors)")
    }

    @Test("a second daemon on a store exits with 74, and its error has the owner's process id")
    func secondDaemon() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        var arguments = daemon.arguments
        if let index = arguments.firstIndex(of: daemon.socket) { arguments[index] += "-2" }
        let second = try daemon.run("larderd", arguments)
        #expect(second.status == 74)
        let owner = try #require(daemon.processIdentifier)
        #expect(second.errors.contains("\(owner)"), "\(second.errors)")
        #expect(second.errors.contains("error[STORE_IN_USE]"))
        try client.ping()
    }

    @Test("larderd refuses a store with another schema and lists the differences")
    func otherSchema() throws {
        let daemon = try TestDaemon()
        #expect(daemon.stop() == 0)
        let other = TestDaemon.schema.replacing("\"visits\"", with: "\"calls\"")
        try other.write(
            toFile: "\(daemon.folder)/schema.json", atomically: true, encoding: .utf8)
        let refused = try daemon.run("larderd", daemon.arguments)
        #expect(refused.status == 65)
        #expect(refused.errors.contains("error[SCHEMA_MISMATCH]"))
        #expect(refused.errors.contains("visits") && refused.errors.contains("calls"))
    }

    @Test("connecting to a socket without a daemon is an error with a hint")
    func noDaemon() throws {
        let daemon = try TestDaemon(starts: false)
        let error = failure {
            _ = try StoreClient.connect(to: daemon.socket)
        }
        #expect(error?.code == .connectionFailed && error?.hint != nil)
    }
}

/// A number that threads share.
private final class Counter: Sendable {
    private let state = Mutex(Int64(0))

    var value: Int64 { state.withLock { $0 } }

    func add(_ number: Int64) { state.withLock { $0 += number } }
}
