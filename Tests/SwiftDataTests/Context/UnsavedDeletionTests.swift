import SwiftData
import Testing

/// A wardrobe owns its drawers, and a drawer its garments.
@Model
private final class Wardrobe {
    @Relationship(deleteRule: .cascade, inverse: \Drawer.wardrobe) var drawers: [Drawer] = []
    @Relationship(inverse: \Drawer.visitor) var guests: [Drawer] = []

    init() {}
}

@Model
private final class Drawer {
    var wardrobe: Wardrobe?
    var visitor: Wardrobe?
    @Relationship(deleteRule: .cascade, inverse: \Garment.drawer) var garments: [Garment] = []
    @Relationship(deleteRule: .cascade) var knob: Knob?

    init(_ garments: [Garment] = []) { self.garments = garments }
}

@Model
private final class Garment {
    var drawer: Drawer?

    init() {}
}

@Model
private final class Knob {
    init() {}
}

/// A context treats objects that were never saved as it treats saved ones.
@Suite("Deleting objects, with and without a save before")
struct UnsavedDeletionTests {
    private let context: ModelContext
    private let wardrobe = Wardrobe()
    private let drawer = Drawer([Garment(), Garment()])

    init() throws {
        let container = try ModelContainer(
            for: Wardrobe.self, Drawer.self, Garment.self, Knob.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
        context.insert(wardrobe)
        wardrobe.drawers = [drawer]
        drawer.knob = Knob()
    }

    private func save(if isSaved: Bool) throws {
        if isSaved { try context.save() }
    }

    /// The numbers of wardrobes, drawers, garments and knobs after a save.
    private func counts() throws -> [Int] {
        try context.save()
        return [
            try context.fetchCount(FetchDescriptor<Wardrobe>()),
            try context.fetchCount(FetchDescriptor<Drawer>()),
            try context.fetchCount(FetchDescriptor<Garment>()),
            try context.fetchCount(FetchDescriptor<Knob>()),
        ]
    }

    @Test("a deleted object takes what it owns, two levels down", arguments: [true, false])
    func cascade(_ isSaved: Bool) throws {
        try save(if: isSaved)
        context.delete(wardrobe)
        #expect(try counts() == [0, 0, 0, 0])
        #expect(!context.hasChanges)
    }

    @Test("an unsaved object takes saved ones, and a saved one takes unsaved ones")
    func mixed() throws {
        try context.save()
        let unsaved = Wardrobe()
        context.insert(unsaved)
        drawer.wardrobe = unsaved
        context.delete(unsaved)
        #expect(try counts() == [1, 0, 0, 0])
        wardrobe.drawers = [Drawer([Garment()])]
        context.delete(wardrobe)
        #expect(try counts() == [0, 0, 0, 0])
    }

    @Test(
        "a deletion does not take what has moved to another owner before the save",
        arguments: [true, false])
    func moved(_ isSaved: Bool) throws {
        try save(if: isSaved)
        context.delete(wardrobe)
        let other = Wardrobe()
        context.insert(other)
        drawer.wardrobe = other
        #expect(try counts() == [1, 1, 2, 1])
        #expect(other.drawers.map(\.persistentModelID) == [drawer.persistentModelID])
    }

    @Test("the delete rule nullify leaves the others without a link", arguments: [true, false])
    func nullify(_ isSaved: Bool) throws {
        let host = Wardrobe()
        context.insert(host)
        drawer.visitor = host
        try save(if: isSaved)
        context.delete(host)
        #expect(try counts() == [1, 1, 2, 1])
        #expect(drawer.visitor == nil)
    }

    @Test("a deletion that is taken back takes nothing", arguments: [true, false])
    func insertedAgain(_ isSaved: Bool) throws {
        let manager = UndoManager()
        context.undoManager = manager
        try save(if: isSaved)
        context.processPendingChanges()
        context.delete(wardrobe)
        context.processPendingChanges()
        manager.undo()
        #expect(try counts() == [1, 1, 2, 1])
        #expect(wardrobe.drawers.count == 1)
    }

    @Test("a rollback discards what was inserted, and deletions of it")
    func rollback() throws {
        context.delete(wardrobe)
        context.rollback()
        #expect(try counts() == [0, 0, 0, 0])
        context.insert(Drawer([Garment()]))
        #expect(try counts() == [0, 1, 1, 0])
    }
}
