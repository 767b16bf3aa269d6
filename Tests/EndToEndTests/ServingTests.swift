import FoundationEssentials
import LarderClient
import Synchronization
import Testing

@Suite("Clients of a daemon")
struct ServingTests {
    @Test("the server describes the schema of its store as the schema file does")
    func schema() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let schema = try client.schema()
        #expect(schema.version == "1.0.0" && client.server.schemaVersion == "1.0.0")
        #expect(
            Set(schema.entities.map(\.name))
                == ["Student", "Article", "Category", "ArticleCollection"])
        #expect(try client.schema() == schema)
        try client.ping()
        #expect(try !client.statistics().isEmpty)
        let explanation = try client.explain(
            .fetch(Fetch("Student", where: .format("birthOfYear == 2000"))))
        #expect(explanation.sql.contains("Student") && !explanation.steps.isEmpty)
    }

    @Test("invalid queries and data are typed errors, and the connection stays open")
    func badInput() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let ann = try client.insert("Student", ["name": "Ann", "birthOfYear": 2_001])
        func code(_ call: () throws -> Void) -> ErrorCode? { failure(of: call)?.code }
        #expect(code { _ = try client.fetch("Teacher") } == .unknownEntity)
        #expect(code { _ = try client.fetch("Student", where: "age > 3") } == .unknownProperty)
        #expect(code { _ = try client.insert("Student", ["name": "Bob"]) } == .missingValue)
        #expect(code { _ = try client.update(ann, ["name": 5]) } == .wrongType)
        #expect(code { _ = try client.update(ann, ["visits": -1]) } == .validationFailed)
        #expect(
            code { _ = try client.update(ann, ["name": "A"], ifVersion: 9) } == .versionConflict)
        let malformed = failure {
            _ = try client.fetch("Student", where: "name === 3 AND")
        }
        #expect(malformed?.code == .malformedPredicate && malformed?.column != nil)
        let stream = try client.stream(.fetch(Fetch("Teacher")))
        #expect(code { _ = try stream.next() } == .unknownEntity)
        #expect(try client.object(for: ann)?.version == 1)
        #expect(client.server.storeIdentifier == ann.store)
    }

    @Test("two clients that edit different properties of one object both succeed")
    func mergedEdits() throws {
        let daemon = try TestDaemon()
        let (first, second) = (try daemon.connect(), try daemon.connect())
        let ann = try first.insert("Student", ["name": "Ann", "birthOfYear": 2_001])
        #expect(try first.update(ann, ["name": "Anna"], ifVersion: 1) == 2)
        let refused = failure {
            _ = try second.update(
                ann, ["birthOfYear": 2_002], ifVersion: 1, base: ["birthOfYear": 2_001])
        }
        let conflict = refused?.details.first?.conflict
        #expect(conflict?.storedVersion == 2 && conflict?.expectedVersion == 1)
        #expect(
            conflict?.properties == [
                .init(name: "birthOfYear", base: 2_001, stored: 2_001, given: 2_002)
            ])
        let version = try second.update(
            ann, ["birthOfYear": 2_002], ifVersion: 1, base: ["birthOfYear": 2_001],
            mergePolicy: .storeWins)
        #expect(version == 3)
        let record = try #require(try first.object(for: ann))
        #expect(record["name"] == .string("Anna") && record["birthOfYear"] == .int(2_002))
        let tech = try first.insert("Category", ["name": "tech"])
        #expect(
            try second.insert("Category", ["name": "tech"], onUniqueConflict: .upsert) == tech)
        let categories = ["new", "tech"].map { name in
            Change.insert(
                PersistentIdentifier(temporary: name, entityName: "Category"),
                values: ["name": .string(name)])
        }
        let saved = try second.save(ChangeSet(categories, onUniqueConflict: .upsert))
        #expect(saved.inserted.last == tech && saved.upserted == [1])
    }

    @Test("repeated reads of a changing object never return an older value")
    func changingObject() throws {
        let daemon = try TestDaemon()
        let writer = try daemon.connect()
        let student = try writer.insert("Student", ["name": "Ann", "birthOfYear": 2_001])
        let rounds: Int64 = 1_000
        let saved = Mutex<(visits: Int64, isLast: Bool)>((0, false))
        inThreads(4) { number in
            // The first thread writes, by identifier and by predicate.
            guard number > 0 else {
                defer { saved.withLock { $0.isLast = true } }
                for round in 1...rounds {
                    if round % 3 == 0 {
                        _ = try writer.updateAll("Student", ["visits": .int(round)], where: nil)
                    } else {
                        _ = try writer.update(student, ["visits": .int(round)])
                    }
                    saved.withLock { $0.visits = round }
                }
                return
            }
            let reader = try daemon.connect()
            var last: Int64 = 0
            while true {
                let known = saved.withLock { $0 }
                guard case .int(let visits)? = try reader.object(for: student)?["visits"] else {
                    Issue.record("no visits")
                    return
                }
                #expect(visits >= known.visits && visits >= last)
                last = visits
                if known.isLast { return }
            }
        }
        #expect(saved.withLock { $0.visits } == rounds)
        let hits = try writer.statistics().first { $0.name == "replyCacheHits" }?.value
        #expect(hits != .int(0) && hits != nil)
    }

    @Test("eight threads write and read concurrently over one connection")
    func threads() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        inThreads(8) { number in
            for round in 0..<40 {
                let year = Int64(1_900 + number)
                let student = try client.insert(
                    "Student", ["name": .string("\(number)-\(round)"), "birthOfYear": .int(year)])
                let read = try client.object(for: student)
                #expect(read?["name"] == .string("\(number)-\(round)"))
                let count = try client.count(
                    "Student", where: "birthOfYear == %@", arguments: [.value(.int(year))])
                #expect(count == Int64(round + 1))
            }
        }
        #expect(try client.count("Student") == 320)
    }

    @Test("threads and tasks that count visits with optimistic locking lose none")
    func optimisticLocking() async throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let ann = try await client.insert("Student", ["name": "Ann", "birthOfYear": 2_001])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<10 { try await countVisit(of: ann, client) }
                }
            }
            let other = try daemon.connect()
            inThreads(4) { _ in
                for _ in 0..<10 { try countVisitBlocking(of: ann, other) }
            }
            try await group.waitForAll()
        }
        let object = try await client.object(for: ann)
        #expect(object?["visits"] == 80 && object?.version == 81)
    }

    @Test("a hundred thousand rows arrive in bounded batches, with other calls between them")
    func manyRows() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        for part in 0..<10 {
            let changes = (0..<10_000).map { number in
                Change.insert(
                    PersistentIdentifier(temporary: "\(number)", entityName: "Student"),
                    values: [
                        "name": .string("Student number \(part * 10_000 + number)"),
                        "birthOfYear": .int(Int64(part * 10_000 + number)),
                    ])
            }
            _ = try client.save(ChangeSet(changes))
        }
        let stream = try client.stream(
            .fetch(Fetch("Student", sort: [SortKey("birthOfYear")])))
        var (next, batchCount): (Int64, Int) = (0, 0)
        while let batch = try stream.next() {
            batchCount += 1
            #expect(batch.rowCount < 50_000)
            for row in batch.rows(store: client.server.storeIdentifier) {
                guard row["birthOfYear"] == .int(next) else {
                    Issue.record("row \(next) is \(row)")
                    return
                }
                next += 1
            }
            #expect(try client.count("Student", where: "birthOfYear == 77") == 1)
        }
        #expect(next == 100_000 && batchCount > 4)
        #expect(try client.fetch("Student", where: "birthOfYear >= 50000").count == 50_000)
    }

    @Test("a task can read a stream to its end, and another stream partly")
    func streamInTask() async throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let changes = (0..<20_000).map { number in
            Change.insert(
                PersistentIdentifier(temporary: "\(number)", entityName: "Student"),
                values: ["name": "a name of some length", "birthOfYear": .int(Int64(number))])
        }
        _ = try await client.save(ChangeSet(changes))
        let query = Query.fetch(Fetch("Student"))
        for try await batch in try await client.stream(query).batches {
            #expect(batch.rowCount > 0)
            break
        }
        var count = 0
        for try await batch in try await client.stream(query).batches { count += batch.rowCount }
        #expect(count == 20_000)
    }

    @Test("a repeated query has the current result after each change")
    func repeatedQueries() throws {
        let daemon = try TestDaemon()
        let clients = try (0..<2).map { _ in try daemon.connect() }
        for number in 1...40 {
            let (writer, reader) = (clients[number % 2], clients[(number + 1) % 2])
            let identifier = try writer.insert(
                "Student", ["name": .string("n"), "birthOfYear": .int(Int64(number % 3))])
            for client in [reader, writer, reader] {
                #expect(try client.count("Student") == Int64(number))
                let groups = try client.aggregate("Student", groupBy: ["birthOfYear"], [.count])
                // All earlier students are in the group of year 0.
                #expect(groups.count == (number == 1 || number % 3 == 0 ? 1 : 2))
            }
            _ = try writer.update(identifier, ["birthOfYear": .int(0)])
            let zeros = try reader.count("Student", where: "birthOfYear == 0")
            #expect(zeros == Int64(number))
        }
    }
}

private func countVisit(of student: PersistentIdentifier, _ client: StoreClient) async throws {
    while true {
        guard let object = try await client.object(for: student),
            case .int(let visits)? = object["visits"]
        else { throw Missing() }
        do {
            let values: [String: Value] = ["visits": .int(visits + 1)]
            _ = try await client.update(student, values, ifVersion: object.version)
            return
        } catch let conflict where conflict.code == .versionConflict {
            continue
        }
    }
}

private func countVisitBlocking(of student: PersistentIdentifier, _ client: StoreClient) throws {
    while true {
        guard let object = try client.object(for: student),
            case .int(let visits)? = object["visits"]
        else { throw Missing() }
        do {
            let values: [String: Value] = ["visits": .int(visits + 1)]
            _ = try client.update(student, values, ifVersion: object.version)
            return
        } catch let conflict where conflict.code == .versionConflict {
            continue
        }
    }
}

private struct Missing: Error {}
