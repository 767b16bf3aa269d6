import Foundation
import SwiftData
import Testing

@Model class Device {
    @Attribute(.unique) var code: String
    var note = ""
    @Attribute(.ephemeral) var isShown = false

    init(code: String) { self.code = code }
}

@Model final class Printer: Device {
    var power = 0
    @Relationship(inverse: \Paper.printer) var papers: [Paper] = []

    init(code: String, power: Int) {
        self.power = power
        super.init(code: code)
    }
}

@Model final class Paper {
    var name: String
    var printer: Printer?

    init(name: String) { self.name = name }
}

/// A context has `old`, and inserts `new` with its unique values.
@Suite("Models that have updated the object of another model of their context")
struct SecondInstanceTests {
    private let context: ModelContext
    private let old: Printer
    private let new: Printer

    init() throws {
        let container = try ModelContainer(
            for: Schema([Device.self, Printer.self, Paper.self]),
            configurations: [ModelConfiguration(isStoredInMemoryOnly: true)])
        context = ModelContext(container)
        old = Printer(code: "m", power: 1)
        old.papers = ["a", "b"].map { Paper(name: $0) }
        context.insert(old)
        try context.save()
        new = Printer(code: "m", power: 2)
        context.insert(new)
    }

    private func stored() throws -> [Printer] {
        try ModelContext(context.container).fetch(FetchDescriptor<Printer>())
    }

    /// That both models and the store have these values, and that no change is left.
    private func expect(note: String, power: Int, papers: [String]) throws {
        let all = try [old, new] + stored()
        #expect(all.count == 3)
        for printer in all {
            #expect(printer.note == note && printer.power == power)
            #expect(printer.papers.map(\.name).sorted() == papers)
        }
        #expect(!context.hasChanges && !old.hasChanges && !new.hasChanges)
    }

    @Test("both models have one state: the changes of both are saved, and both show them")
    func oneState() throws {
        old.note = "before"
        try context.save()
        #expect(new == old)
        try expect(note: "before", power: 2, papers: ["a", "b"])
        new.note = "new"
        #expect(old.note == "new" && old.hasChanges && new.hasChanges)
        old.note = "old"
        new.power = 3
        new.papers.append(Paper(name: "c"))
        old.papers.append(Paper(name: "d"))
        old.papers.removeAll { $0.name == "a" }
        new.isShown = true
        #expect(old.isShown)
        try context.save()
        try expect(note: "old", power: 3, papers: ["b", "c", "d"])
        let fetched = try context.fetch(FetchDescriptor<Printer>())
        #expect(fetched.map { $0 === old } == [true])
    }

    @Test("a relationship to either of the models is one to the object")
    func relationships() throws {
        try context.save()
        let (first, second) = (Paper(name: "c"), Paper(name: "d"))
        first.printer = new
        second.printer = old
        #expect(new.papers.count == 4 && old.papers.count == 4)
        try context.save()
        try expect(note: "", power: 2, papers: ["a", "b", "c", "d"])
        #expect(first.printer == second.printer)
        new.papers = []
        #expect(first.printer == nil && second.printer == nil)
        try context.save()
        try expect(note: "", power: 2, papers: [])
    }

    @Test("the deletion of either of the models deletes the object, also after changes of both")
    func deletion() throws {
        try context.save()
        new.power = 3
        context.delete(old)
        #expect(new.isDeleted && old.isDeleted)
        context.delete(new)
        #expect(context.deletedModelsArray.count == 1)
        try context.save()
        #expect(try stored().isEmpty)
        #expect(new.isDeleted && new.modelContext == nil && new.power == 3)
    }

    @Test("a rollback takes the changes of both models back")
    func rollback() throws {
        try context.save()
        old.note = "old"
        new.power = 3
        new.papers = []
        context.rollback()
        try expect(note: "", power: 2, papers: ["a", "b"])
    }

    @Test("an undo manager undoes and redoes the changes of both models, and the insert")
    func undo() throws {
        context.rollback()
        let manager = UndoManager()
        context.undoManager = manager
        let third = Printer(code: "m", power: 4)
        context.insert(third)
        third.note = "third"
        try context.save()
        third.note = "changed"
        old.power = 5
        third.papers.append(Paper(name: "c"))
        context.processPendingChanges()
        manager.undo()
        #expect(old.note == "third" && third.power == 4)
        #expect(third.papers.map(\.name).sorted() == ["a", "b"])
        manager.redo()
        #expect(old.note == "changed" && third.power == 5 && old.papers.count == 3)
        try context.save()
        manager.undo()
        manager.undo()
        #expect(old.isDeleted && third.isDeleted)
        manager.redo()
        #expect(!old.isDeleted && !third.isDeleted && third.note == "third")
        try context.save()
        #expect(try stored().map(\.note) == ["third"])
        #expect(!context.hasChanges)
    }

    @Test("observers of the new model are notified by the save, and of changes of the other one")
    func observers() throws {
        func flag(_ read: () -> Void) -> Flag {
            let flag = Flag()
            withObservationTracking(read) { flag.isSet = true }
            return flag
        }
        let saved = flag { _ = (new.papers, new.power) }
        try context.save()
        #expect(saved.isSet)
        let changed = (flag { _ = new.power }, flag { _ = new.note })
        old.power = 7
        #expect(changed.0.isSet && !changed.1.isSet)
    }

    @MainActor
    @Test("the main context saves the changes of both models by itself")
    func autosave() async throws {
        let context = context.container.mainContext
        let old = try #require(try context.fetch(FetchDescriptor<Printer>()).first)
        let new = Printer(code: "m", power: 2)
        context.insert(new)
        try context.save()
        old.note = "old"
        new.power = 3
        for _ in 0..<10_000 where context.hasChanges { await Task.yield() }
        #expect(try stored().map { "\($0.note) \($0.power)" } == ["old 3"])
    }

    @Test("the new model stands for the object if the other one is released")
    func released() throws {
        try context.save()
        let other = ModelContext(context.container)
        var first = try other.fetch(FetchDescriptor<Printer>()).first
        let papers = try #require(first?.papers)
        let second = Printer(code: "m", power: 8)
        other.insert(second)
        try other.save()
        first = nil
        #expect(papers.first?.printer?.power == 8)
        #expect(try other.fetch(FetchDescriptor<Printer>()).first == second)
        second.power = 9
        try other.save()
        #expect(try stored().map(\.power) == [9])
    }
}
