import Foundation
import SwiftData
import Testing

@Model final class Shelf {
    #Unique<Shelf>([\.room, \.number])
    var room: String
    var number: Int
    var note: String?
    @Relationship(inverse: \Label.shelves) var labels: [Label] = []
    @Relationship(inverse: \Volume.shelf) var volumes: [Volume] = []

    init(room: String, number: Int) {
        self.room = room
        self.number = number
    }
}

@Model final class Label {
    @Attribute(.unique) var text: String
    var shelves: [Shelf] = []

    init(text: String) { self.text = text }
}

@Model final class Volume {
    var title: String
    var shelf: Shelf?

    init(title: String, shelf: Shelf? = nil) {
        self.title = title
        self.shelf = shelf
    }
}

@Suite("A model whose unique values exist updates the object at the save")
struct UpsertTests {
    private func container() throws -> ModelContainer {
        try ModelContainer(
            for: Shelf.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    /// A shelf with a note, the labels a and b, and the volume Old.
    private func filled() throws -> ModelContainer {
        let context = ModelContext(try container())
        let shelf = Shelf(room: "r", number: 1)
        shelf.note = "old"
        shelf.labels = ["a", "b"].map { Label(text: $0) }
        shelf.volumes = [Volume(title: "Old")]
        context.insert(shelf)
        try context.save()
        return context.container
    }

    private func shelves(_ container: ModelContainer) throws -> [Shelf] {
        try ModelContext(container).fetch(FetchDescriptor<Shelf>())
    }

    @Test("the newest values are those of the object, nil too, and there is no second object")
    func values() throws {
        let container = try filled()
        let context = ModelContext(container)
        let new = Shelf(room: "r", number: 1)
        context.insert(new)
        context.insert(Shelf(room: "r", number: 2))
        try context.save()
        let read = try shelves(container)
        #expect(read.map(\.number) == [1, 2])
        #expect(read[0].note == nil)
        #expect(new.persistentModelID == read[0].persistentModelID)
        #expect(!context.hasChanges)
    }

    @Test("a list that the new model sets is the list of the object")
    func listsReplace() throws {
        let container = try filled()
        let context = ModelContext(container)
        let new = Shelf(room: "r", number: 1)
        new.labels = ["b", "c"].map { Label(text: $0) }
        context.insert(new)
        new.volumes = [Volume(title: "New")]
        try context.save()
        let read = try #require(try shelves(container).first)
        #expect(Set(read.labels.map(\.text)) == ["b", "c"])
        #expect(read.volumes.map(\.title) == ["New"])
        #expect(Set(new.labels.map(\.text)) == ["b", "c"])
        #expect(new.volumes.map(\.title) == ["New"])
        let other = ModelContext(container)
        let labels = try other.fetch(FetchDescriptor<Label>(sortBy: [SortDescriptor(\.text)]))
        #expect(labels.map { "\($0.text)\($0.shelves.count)" } == ["a0", "b1", "c1"])
        let volumes = try other.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
        #expect(volumes.map { $0.shelf == nil } == [false, true])
    }

    @Test("links that come from the other side are added, and a list that is not set stays")
    func otherSideAdds() throws {
        let container = try filled()
        let context = ModelContext(container)
        context.insert(Volume(title: "New", shelf: Shelf(room: "r", number: 1)))
        let label = Label(text: "c")
        label.shelves = [Shelf(room: "r", number: 1)]
        context.insert(label)
        try context.save()
        let read = try #require(try shelves(container).first)
        #expect(Set(read.volumes.map(\.title)) == ["New", "Old"])
        #expect(Set(read.labels.map(\.text)) == ["a", "b", "c"])
    }

    @Test("two new models with the same unique values become one object")
    func twoNew() throws {
        let context = ModelContext(try container())
        let (one, two) = (Label(text: "a"), Label(text: "a"))
        one.shelves = [Shelf(room: "r", number: 1)]
        two.shelves = [Shelf(room: "r", number: 2)]
        context.insert(one)
        context.insert(two)
        try context.save()
        let labels = try ModelContext(context.container).fetch(FetchDescriptor<Label>())
        #expect(labels.map(\.text) == ["a"])
        #expect(labels.first?.shelves.map(\.number) == [2])
        #expect(one.persistentModelID == two.persistentModelID)
    }
}
