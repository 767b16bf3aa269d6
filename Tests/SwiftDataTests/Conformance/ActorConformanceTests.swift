import Foundation
import SwiftData
import Testing

/// An executor that a program writes itself: it runs the jobs of its actor on a queue.
///
/// Unchecked: the context is used on the queue only.
private final class OwnExecutor: SerialModelExecutor, @unchecked Sendable {
    let modelContext: ModelContext
    let queue = DispatchQueue(label: "own")

    init(_ container: ModelContainer) { modelContext = ModelContext(container) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}

/// A model actor without the macro.
private actor OwnActor: ModelActor {
    nonisolated let modelContainer: ModelContainer
    nonisolated let modelExecutor: any ModelExecutor
    private let queue: DispatchQueue

    init(_ container: ModelContainer) {
        modelContainer = container
        let executor = OwnExecutor(container)
        modelExecutor = executor
        queue = executor.queue
    }

    func add(_ text: String) throws -> PersistentIdentifier {
        dispatchPrecondition(condition: .onQueue(queue))
        let note = Note(text: text)
        modelContext.insert(note)
        try modelContext.save()
        return note.persistentModelID
    }
}

@ModelActor private actor Notes {
    func add(_ text: String) throws -> PersistentIdentifier {
        let note = Note(text: text)
        modelContext.insert(note)
        try modelContext.save()
        return note.persistentModelID
    }

    func text(_ identifier: PersistentIdentifier) -> String? {
        self[identifier, as: Note.self]?.text
    }

    func isTag(_ identifier: PersistentIdentifier) -> Bool {
        self[identifier, as: Tag.self] != nil
    }

    func delete(_ identifier: PersistentIdentifier) throws {
        guard let note = self[identifier, as: Note.self] else { return }
        modelContext.delete(note)
    }

    func setAuthor(_ author: String) { modelContext.author = author }

    func context() -> ObjectIdentifier { ObjectIdentifier(modelContext) }

    func countTwice() async throws -> (Int, Int) {
        let before = try modelContext.fetchCount(FetchDescriptor<Note>())
        await Task.yield()
        return (before, try modelContext.fetchCount(FetchDescriptor<Note>()))
    }
}

@Suite("Model actors, as documented")
struct ActorConformanceTests {
    @Test("an actor of the macro ModelActor has the container, and one context of its own")
    func macro() async throws {
        let container = try makeContainer()
        let actor = Notes(modelContainer: container)
        #expect(actor.modelContainer == container)
        #expect(actor.modelExecutor is DefaultSerialModelExecutor)
        let context = await actor.context()
        #expect(await actor.context() == context)
        #expect(await Notes(modelContainer: container).context() != context)
        _ = try await actor.add("n")
        let counts = try await actor.countTwice()
        #expect(counts == (1, 1))
    }

    @Test("the subscript of a model actor finds a model by identifier and type, or is nil")
    func subscripts() async throws {
        let container = try makeContainer()
        let actor = Notes(modelContainer: container)
        let identifier = try await actor.add("n")
        #expect(await actor.text(identifier) == "n")
        #expect(await Notes(modelContainer: container).text(identifier) == "n")
        #expect(await !actor.isTag(identifier))
        let foreign = try await Notes(modelContainer: makeContainer()).add("f")
        #expect(await actor.text(foreign) == nil)
        try await actor.delete(identifier)
        #expect(await actor.text(identifier) == nil)
    }

    @Test("a model actor with an executor of its own runs on it, with its context")
    func ownExecutor() async throws {
        let container = try makeContainer()
        let actor = OwnActor(container)
        let executor: any ModelExecutor = actor.modelExecutor
        #expect(executor is any SerialModelExecutor)
        let identifier = try await actor.add("n")
        #expect(executor.modelContext.container == container)
        let found = ModelContext(container).model(for: identifier) as? Note
        #expect(found?.text == "n")
    }

    @Test("the default executor of a model actor runs jobs one after the other")
    func serial() async throws {
        let container = try makeContainer()
        let actor = Notes(modelContainer: container)
        try await withThrowingTaskGroup(of: PersistentIdentifier.self) { group in
            for index in 0..<50 { group.addTask { try await actor.add("\(index)") } }
            var seen: Set<PersistentIdentifier> = []
            for try await identifier in group { seen.insert(identifier) }
            #expect(seen.count == 50)
        }
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Note>()) == 50)
        let context = ModelContext(container)
        let executor = DefaultSerialModelExecutor(modelContext: context)
        #expect(executor.modelContext === context)
    }

    @Test("the author of a model actor's context is that of its transactions")
    func author() async throws {
        let container = try makeContainer()
        let actor = Notes(modelContainer: container)
        await actor.setAuthor("importer")
        _ = try await actor.add("n")
        let transactions = try ModelContext(container).fetchHistory(Transactions())
        #expect(transactions.map(\.author) == ["importer"])
    }
}
