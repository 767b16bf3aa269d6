import Foundation
import SwiftData
import Testing

@Suite("No access to a model ends the process")
struct SafetyTests {
    /// Reads, writes and observes everything, here and on another thread.
    private func use(_ model: Everything, _ target: Target) async {
        withObservationTracking {
            _ = model.readAll()
        } onChange: {
        }
        model.writeAll(target)
        #expect(!model.readAll().isEmpty)
        let carrier = Carrier(model: model)
        await Task.detached { _ = carrier.model.readAll() }.value
    }

    /// Unchecked: the tasks use the model one after the other.
    private struct Carrier: @unchecked Sendable { let model: Everything }

    private func make(_ context: ModelContext) -> Everything {
        let model = Everything(text: "a", required: Target(name: "t"))
        context.insert(model)
        return model
    }

    @Test("no access to a model that was never inserted ends the process")
    func neverInserted() async throws {
        await use(Everything(text: "a", required: Target(name: "t")), Target(name: "u"))
    }

    @Test("no access to a deleted model, before or after the save, ends the process")
    func deleted() async throws {
        let context = ModelContext(try makeKinds())
        let model = make(context)
        try context.save()
        context.delete(model)
        #expect(model.isDeleted)
        await use(model, Target(name: "u"))
        try context.save()
        #expect(model.modelContext == nil)
        #expect(model.text == "a.")
        let target = Target(name: "v")
        context.insert(target)
        try context.save()
        await use(model, target)
        #expect(model.modelContext == nil, "a deleted model stays deleted")
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Everything>()) == 0)
    }

    @Test("no access to a model that another context deleted ends the process")
    func deletedElsewhere() async throws {
        let container = try makeKinds()
        let context = ModelContext(container)
        let model = make(context)
        try context.save()
        let other = ModelContext(container)
        let same = try #require(try other.fetch(FetchDescriptor<Everything>()).first)
        other.delete(same)
        try other.save()
        await use(model, Target(name: "u"))
        try context.save()
        #expect(model.isDeleted)
        #expect(try context.fetchCount(FetchDescriptor<Everything>()) == 0)
        await use(model, Target(name: "u"))
    }

    @Test("no access to a model whose insertion was rolled back or deleted ends the process")
    func rolledBack() async throws {
        let context = ModelContext(try makeKinds())
        let model = make(context)
        context.rollback()
        await use(model, Target(name: "u"))
        #expect(model.modelContext == nil)
        let other = make(context)
        context.delete(other)
        await use(other, Target(name: "u"))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Everything>()) == 0)
    }

    @Test("no access to a model of a deleted identifier that was never read ends the process")
    func neverRead() async throws {
        let container = try makeKinds()
        let context = ModelContext(container)
        let model = make(context)
        try context.save()
        let identifier = model.persistentModelID
        context.delete(model)
        try context.save()
        let other = ModelContext(container)
        let gone = try #require(other.model(for: identifier) as? Everything)
        await use(gone, Target(name: "u"))
        try other.save()
        #expect(gone.isDeleted)
        let found = try other.fetch(
            FetchDescriptor<Everything>(
                predicate: #Predicate { $0.persistentModelID == identifier }))
        #expect(found.isEmpty)
    }

    @Test("no access to a required relationship whose target was deleted ends the process")
    func requiredTarget() async throws {
        let container = try makeKinds()
        let context = ModelContext(container)
        let model = make(context)
        try context.save()
        let target = model.required
        context.delete(target)
        #expect(model.required.isDeleted)
        #expect(model.required.name == "" || model.required.name == "t")
        context.rollback()
        #expect(model.required === target)
        #expect(model.required.name == "t")
    }

    @Test("no access to a model whose context or container is released ends the process")
    func withoutContext() async throws {
        var context: ModelContext? = ModelContext(try makeKinds())
        let model = make(try #require(context))
        try context?.save()
        context = nil
        #expect(model.text == "a")
        #expect(model.required.name == "t")
        let unsaved = make(ModelContext(try makeKinds()))
        await use(unsaved, Target(name: "u"))
    }

    @Test("many threads that read the same models do not end the process")
    func threads() async throws {
        let container = try makeKinds()
        let writer = ModelContext(container)
        for _ in 0..<20 { _ = make(writer) }
        try writer.save()
        for _ in 0..<100 {
            let models = try ModelContext(container).fetch(FetchDescriptor<Everything>())
            let carriers = models.map { Carrier(model: $0) }
            await withTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask { carriers.reduce(0) { $0 + $1.model.readAll().count } }
                }
                var counts: Set<Int> = []
                for await count in group { counts.insert(count) }
                #expect(counts.count == 1)
            }
        }
    }

    @Test("threads that read models while the context deletes them do not end the process")
    func threadsBesideDeletions() async throws {
        for _ in 0..<20 {
            let container = try makeKinds()
            let context = ModelContext(container)
            for _ in 0..<20 { _ = make(context) }
            try context.save()
            let models = try ModelContext(container).fetch(FetchDescriptor<Everything>())
            let own = try #require(models.first?.modelContext)
            let carriers = models.map { Carrier(model: $0) }
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<5 {
                            for carrier in carriers { _ = carrier.model.readAll() }
                        }
                        return carriers.allSatisfy { $0.model.text == "a" }
                    }
                }
                for (index, model) in models.enumerated() {
                    if index.isMultiple(of: 2) { own.delete(model) } else { model.text = "a" }
                    if index.isMultiple(of: 5) { #expect(throws: Never.self) { try own.save() } }
                }
                for await isKept in group { #expect(isKept) }
            }
            try own.save()
            #expect(try own.fetchCount(FetchDescriptor<Everything>()) == 10)
        }
    }
}
