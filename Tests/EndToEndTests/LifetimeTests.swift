import FoundationEssentials
import LarderClient
import Synchronization
import Testing

@Suite("A daemon that comes and goes")
struct LifetimeTests {
    @Test("clients wait for a daemon that is stopped and started, and go on")
    func restart() throws {
        let site = try Site()
        let client = try site.connect()
        let written = Mutex<[PersistentIdentifier]>([])
        for round in 0..<3 {
            #expect(site.stop() == 0, "\(site.errors)")
            inThreads(5) { number in
                if number == 0 { return try site.start() }
                let student = try client.insert(
                    "Student", ["name": "Ann", "birthOfYear": .int(Int64(number))])
                #expect(try client.object(for: student) != nil)
                written.withLock { $0.append(student) }
            }
            #expect(try client.count("Student") == Int64(4 * (round + 1)))
        }
        let identifiers = written.withLock { $0 }
        #expect(try client.objects(for: identifiers).count == 12)
        #expect(site.stop() == 0)
    }

    @Test("tasks wait for a daemon that is stopped and started")
    func restartUnderTasks() async throws {
        let site = try Site()
        let client = try site.connect()
        let ann = try await client.insert("Student", ["name": "Ann", "birthOfYear": 2_001])
        #expect(site.stop() == 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let name = Value.string("Ann \(number)")
                    _ = try await client.update(ann, ["name": name])
                }
            }
            try site.start()
            try await group.waitForAll()
        }
        #expect(try await client.object(for: ann)?.version == 9)
    }

    @Test("a stop under load answers what it accepted; clients lose nothing and repeat nothing")
    func stopUnderLoad() throws {
        let site = try Site()
        let client = try site.connect()
        let (acknowledged, isOver, ended) = (Counter(), Counter(), Counter())
        inThreads(5) { number in
            if number == 0 {
                defer { isOver.add(1) }
                for _ in 0..<3 {
                    let before = acknowledged.value
                    while acknowledged.value < before + 20, ended.value == 0 { try client.ping() }
                    #expect(site.stop() == 0, "\(site.errors)")
                    try site.start()
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

    @Test("what was acknowledged survives kill -9, and nothing else than what was tried is there")
    func killed() throws {
        let site = try Site()
        let acknowledged = Mutex<[PersistentIdentifier]>([])
        let attempts = Counter()
        for _ in 0..<4 {
            let client = try site.connect(reconnectWait: .zero)
            let (observer, ended) = (try site.connect(), Counter())
            inThreads(4) { number in
                if number == 0 {
                    // Let the others get going before the blow falls.
                    let before = try observer.count("Student")
                    while try observer.count("Student") < before + 20, ended.value == 0 {}
                    return site.kill()
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
            try site.start()
            let survivor = try site.connect()
            let identifiers = acknowledged.withLock { $0 }
            #expect(try survivor.objects(for: identifiers).count == identifiers.count)
            let count = try survivor.count("Student")
            #expect(count >= Int64(identifiers.count) && count <= attempts.value)
        }
    }

    @Test("a write with an idempotency key whose answer nobody took is answered after kill -9")
    func answerLostInDeath() throws {
        let site = try Site()
        let observer = try site.connect()
        let set = ChangeSet(
            [
                .insert(
                    PersistentIdentifier(temporary: "a", entityName: "Student"),
                    values: ["name": "Ann", "birthOfYear": 1])
            ], idempotencyKey: "once")
        let victim = try site.connect(reconnectWait: .zero)
        let first = try victim.save(set)
        site.kill()
        try site.start()
        #expect(try observer.save(set) == first)
        #expect(try observer.count("Student") == 1)
        #expect(
            failure { _ = try observer.save(ChangeSet(idempotencyKey: "once")) }?.code
                == .idempotencyMismatch)
    }

    @Test("writes with idempotency keys go on through kill -9, and each is done once")
    func killedOften() throws {
        let site = try Site()
        let client = try site.connect()
        let written = Mutex<Set<PersistentIdentifier>>([])
        let (acknowledged, isOver, ended) = (Counter(), Counter(), Counter())
        inThreads(5) { number in
            if number == 0 {
                defer { isOver.add(1) }
                for _ in 0..<6 {
                    let before = acknowledged.value
                    while acknowledged.value < before + 15, ended.value == 0 { try client.ping() }
                    site.kill()
                    try site.start()
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
        #expect(acknowledged.value >= 90, "\(site.errors)")
    }

    @Test("a second daemon on one store ends with 74 and names the holder")
    func secondDaemon() throws {
        let site = try Site()
        let client = try site.connect()
        var arguments = site.daemonArguments
        if let place = arguments.firstIndex(of: site.socket) { arguments[place] += "-2" }
        let second = try site.run("larderd", arguments)
        #expect(second.status == 74)
        let holder = try #require(site.daemonProcessIdentifier)
        #expect(second.errors.contains("\(holder)"), "\(second.errors)")
        #expect(second.errors.contains("error[STORE_IN_USE]"))
        try client.ping()
    }

    @Test("a store of another schema is refused, with the differences")
    func otherSchema() throws {
        let site = try Site()
        #expect(site.stop() == 0)
        let other = Site.schema.replacing("\"visits\"", with: "\"calls\"")
        try other.write(
            toFile: "\(site.folder)/schema.json", atomically: true, encoding: .utf8)
        let refused = try site.run("larderd", site.daemonArguments)
        #expect(refused.status == 65)
        #expect(refused.errors.contains("error[SCHEMA_MISMATCH]"))
        #expect(refused.errors.contains("visits") && refused.errors.contains("calls"))
    }

    @Test("connecting where no daemon serves is told as such, with a hint")
    func noDaemon() throws {
        let site = try Site(isServed: false)
        let error = failure {
            _ = try StoreClient.connect(to: site.socket)
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
