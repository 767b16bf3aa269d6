import SwiftData
import Testing

@Suite("The executor of a model actor")
struct ExecutorTests {
    @Test("the executor of a model actor runs its jobs one after the other, with its context")
    func jobs() async throws {
        let container = try makeContainer()
        let worker = Worker(modelContainer: container)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { await worker.add() } }
        }
        #expect(await worker.count == 50)
        #expect(try await worker.saved() == 50)
        let executor: any ModelExecutor = worker.modelExecutor
        #expect(executor is DefaultSerialModelExecutor)
        #expect(executor is any SerialModelExecutor)
        let serial = try #require(executor as? DefaultSerialModelExecutor)
        #expect(serial.modelContext.container == container)
    }
}

@ModelActor private actor Worker {
    private(set) var count = 0

    func add() {
        modelContext.insert(Tag(name: "\(count)"))
        count += 1
    }

    func saved() throws -> Int {
        try modelContext.save()
        return try ModelContext(modelContainer).fetchCount(FetchDescriptor<Tag>())
    }
}
