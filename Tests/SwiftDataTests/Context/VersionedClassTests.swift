import Foundation
import SwiftData
import Testing

@Suite("A context has the classes of its container, not those of another version")
struct VersionedClassTests {
    private let context: ModelContext

    init() throws {
        let container = try ModelContainer(
            for: EarlierLog.Log.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
        context.insert(EarlierLog.Log("x"))
        try context.save()
    }

    private func fails(_ call: () throws -> Void) {
        #expect {
            try call()
        } throws: { error in
            error as? SwiftDataError == .unknownSchema
                && "\(error)".contains("EarlierLog.Log") && "\(error)".contains("LaterLog.Log")
        }
    }

    @Test("a fetch with the class of another version is an error that names both classes")
    func fetches() throws {
        fails { _ = try context.fetch(FetchDescriptor<LaterLog.Log>()) }
        fails { _ = try context.fetch(FetchDescriptor<LaterLog.Log>(), batchSize: 1) }
        fails { _ = try context.fetchCount(FetchDescriptor<LaterLog.Log>()) }
        fails { _ = try context.fetchIdentifiers(FetchDescriptor<LaterLog.Log>()) }
        fails { try context.enumerate(FetchDescriptor<LaterLog.Log>()) { _ in } }
        #expect(try context.fetchCount(FetchDescriptor<EarlierLog.Log>()) == 1)
    }

    @Test("a deletion with the class of another version deletes nothing")
    func deletions() throws {
        fails { try context.delete(model: LaterLog.Log.self) }
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<EarlierLog.Log>()) == 1)
    }

    @Test("an insert of a model of another version does not make one of this version")
    func inserts() throws {
        context.insert(LaterLog.Log("y"))
        #expect(context.insertedModelsArray.isEmpty)
        let error = #expect(throws: (any Error).self) { try context.save() }
        let reason = "LaterLog.Log: it was not inserted, because the schema has another class"
        #expect("\(error as Any)".contains(reason), "\(error as Any)")
        try context.save()
        #expect(try context.fetch(FetchDescriptor<EarlierLog.Log>()).map(\.text) == ["x"])
    }

    @Test("results of a class of another version are an error")
    func observers() throws {
        fails { _ = try ResultsObserver<LaterLog.Log, Never>(modelContext: context) }
    }
}

enum EarlierLog {
    @Model final class Log {
        var text: String

        init(_ text: String) { self.text = text }
    }
}

enum LaterLog {
    @Model final class Log {
        var size = 1
        var text: String

        init(_ text: String) { self.text = text }
    }
}
