import FoundationEssentials
import LarderClient
import LarderModel
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
        let acknowledged = Mutex(Int64(0))
        let indeterminate = Mutex(Int64(0))
        inThreads(5) { number in
            if number == 0 {
                for _ in 0..<3 {
                    #expect(site.stop() == 0, "\(site.errors)")
                    try site.start()
                }
                return
            }
            for _ in 0..<150 {
                do {
                    _ = try client.insert("Student", ["name": "Ann", "birthOfYear": 1])
                    acknowledged.withLock { $0 += 1 }
                } catch let error as LarderError where error.code == .indeterminate {
                    indeterminate.withLock { $0 += 1 }
                }
            }
        }
        let (sure, unsure) = (acknowledged.withLock { $0 }, indeterminate.withLock { $0 })
        #expect(sure + unsure == 600)
        print("stopUnderLoad: \(sure) sure, \(unsure) unsure")
        let count = try client.count("Student")
        #expect(count >= sure && count <= sure + unsure)
    }

    @Test("what was acknowledged survives kill -9, and nothing else than what was tried is there")
    func killed() throws {
        let site = try Site()
        let acknowledged = Mutex<[PersistentIdentifier]>([])
        let attempts = Mutex(Int64(0))
        for _ in 0..<4 {
            let client = try site.connect(reconnectWait: .zero)
            let observer = try site.connect()
            inThreads(4) { number in
                if number == 0 {
                    // Let the others get going before the blow falls.
                    let before = try observer.count("Student")
                    while try observer.count("Student") < before + 20 {}
                    return site.kill()
                }
                while true {
                    attempts.withLock { $0 += 1 }
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
            #expect(count >= Int64(identifiers.count) && count <= attempts.withLock { $0 })
        }
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
