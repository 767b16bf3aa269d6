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

@Model final class Crate {
    @Attribute(.unique) var name: String
    @Relationship(deleteRule: .cascade, inverse: \Ware.crate) var wares: [Ware] = []

    init(name: String) { self.name = name }
}

@Model final class Ware {
    var name: String
    var crate: Crate?

    init(name: String) { self.name = name }
}

@Suite("A model whose unique values exist updates the object at the save")
struct UpsertTests {
    /// How a container reaches its store.
    enum Access: CaseIterable {
        case memory
        case ownFile
        case socket
    }

    /// A store with a shelf that has a note, the labels a and b, and the volume Old.
    private final class FilledStore {
        let container: ModelContainer
        private let folder = try? StoreFileTests.Folder()
        /// The owner of the file.
        private var owner: ModelContainer?

        init(_ access: Access) throws {
            guard let url = folder?.url.appending(path: "shelves.store") else {
                throw CocoaError(.fileNoSuchFile)
            }
            let configuration =
                access == .memory
                ? ModelConfiguration(isStoredInMemoryOnly: true) : ModelConfiguration(url: url)
            if access == .socket {
                owner = try ModelContainer(for: Shelf.self, configurations: configuration)
            }
            container = try ModelContainer(for: Shelf.self, configurations: configuration)
            try fill(container)
        }
    }

    private func container() throws -> ModelContainer {
        try ModelContainer(
            for: Shelf.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    private func filled() throws -> ModelContainer {
        let container = try container()
        try Self.fill(container)
        return container
    }

    private static func fill(_ container: ModelContainer) throws {
        let context = ModelContext(container)
        let shelf = Shelf(room: "r", number: 1)
        shelf.note = "old"
        shelf.labels = ["a", "b"].map { Label(text: $0) }
        shelf.volumes = [Volume(title: "Old")]
        context.insert(shelf)
        try context.save()
    }

    private func shelves(_ container: ModelContainer) throws -> [Shelf] {
        try ModelContext(container).fetch(FetchDescriptor<Shelf>())
    }

    @Test("an upserted object has the newest values, nil too, and there is no second object")
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

    @Test("a list that an upserting model sets replaces the object's list")
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

    @Test("an upsert adds links from the other side, and keeps a list that is not set")
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

    private func changes(of read: () -> Void) -> Flag {
        let flag = Flag()
        withObservationTracking(read) { flag.isSet = true }
        return flag
    }

    @Test(
        "a list that an upserting model does not set is read, and its observers are notified",
        arguments: Access.allCases)
    func unsetLists(_ access: Access) throws {
        let store = try FilledStore(access)
        let context = ModelContext(store.container)
        let (new, other) = (Shelf(room: "r", number: 1), Shelf(room: "r", number: 2))
        context.insert(new)
        context.insert(other)
        new.labels = [Label(text: "c")]
        let volumes = changes { _ = new.volumes }
        let unchanged = changes { _ = (new.labels, new.note, other.volumes) }
        #expect(new.volumes.isEmpty)
        try context.save()
        #expect(volumes.isSet && !unchanged.isSet)
        #expect(new.volumes.map(\.title) == ["Old"])
        #expect(new.labels.map(\.text) == ["c"])
        #expect(new.note == nil)
        #expect(other.volumes.isEmpty)
        #expect(!context.hasChanges)
        let read = try #require(try shelves(store.container).first { $0.number == 1 })
        #expect(read.volumes.map(\.title) == ["Old"])
        #expect(read.labels.map(\.text) == ["c"])
    }

    @Test("a list has a member once if new models with its unique values are added")
    func membersOnce() throws {
        let context = ModelContext(try filled())
        let shelf = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
        let labels = shelf.labels.sorted { $0.text < $1.text }
        #expect(labels.map(\.text) == ["a", "b"])
        let label = Label(text: "a")
        context.insert(label)
        label.shelves = [shelf]
        shelf.labels.append(Label(text: "b"))
        #expect(shelf.labels.count == 4)
        try context.save()
        #expect(shelf.labels.map(\.text).sorted() == ["a", "b"])
        #expect(labels.map(\.shelves.count) == [1, 1])
        _ = try context.fetch(FetchDescriptor<Shelf>())
        #expect(shelf.labels.map(\.text).sorted() == ["a", "b"])
        #expect(!context.hasChanges)
    }

    @Test("links to an upserting model are shown with those that the object had before")
    func addedLinks() throws {
        let context = ModelContext(try filled())
        let new = Shelf(room: "r", number: 1)
        let (volume, label) = (Volume(title: "New", shelf: new), Label(text: "c"))
        label.shelves = [new]
        context.insert(volume)
        context.insert(label)
        #expect(new.volumes.map(\.title) == ["New"])
        try context.save()
        #expect(Set(new.volumes.map(\.title)) == ["New", "Old"])
        #expect(Set(new.labels.map(\.text)) == ["a", "b", "c"])
        #expect(volume.shelf === new)
        #expect(label.shelves.map(\.number) == [1])
    }

    @Test("models that have lost their link by an upsert show it")
    func lostLinks() throws {
        let context = ModelContext(try filled())
        let old = try #require(try context.fetch(FetchDescriptor<Volume>()).first)
        let label = try #require(
            try context.fetch(FetchDescriptor<Label>(sortBy: [SortDescriptor(\.text)])).first)
        #expect(old.shelf?.number == 1)
        #expect(label.shelves.map(\.number) == [1])
        let new = Shelf(room: "r", number: 1)
        context.insert(new)
        new.volumes = [Volume(title: "New")]
        new.labels = [Label(text: "c")]
        let changed = (changes { _ = old.shelf }, changes { _ = label.shelves })
        try context.save()
        #expect(changed.0.isSet && changed.1.isSet)
        #expect(old.shelf == nil)
        #expect(label.shelves.isEmpty)
        #expect(!context.hasChanges)
    }

    @Test("the lists of many upserted models are read by few requests")
    func many() throws {
        let store = try CountingStore(Schema([Shelf.self, Label.self, Volume.self]))
        let container = try ModelContainer(Schema([Shelf.self, Label.self, Volume.self]), store)
        func shelves(_ context: ModelContext) -> [Shelf] {
            let shelves = (0..<500).map { Shelf(room: "r", number: $0) }
            for shelf in shelves { context.insert(shelf) }
            return shelves
        }
        let context = ModelContext(container)
        for shelf in shelves(context) {
            context.insert(Volume(title: "\(shelf.number)", shelf: shelf))
        }
        try context.save()
        let other = ModelContext(container)
        let new = shelves(other)
        try other.save()
        store.reset()
        #expect(new.map { $0.volumes.map(\.title) } == (0..<500).map { ["\($0)"] })
        #expect(store.requestCount <= 4)
    }

    @Test("a new model replaces one with its unique values that is deleted in the same save")
    func replacing() throws {
        let container = try filled()
        let context = ModelContext(container)
        let old = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
        let identifier = old.persistentModelID
        context.delete(old)
        let new = Shelf(room: "r", number: 1)
        new.volumes = [Volume(title: "New")]
        context.insert(new)
        context.insert(Shelf(room: "r", number: 2))
        try context.save()
        #expect(old.isDeleted && !new.isDeleted)
        let read = try shelves(container)
        #expect(Set(read.map(\.number)) == [1, 2])
        let found = try #require(read.first { $0.number == 1 })
        #expect(found.persistentModelID == new.persistentModelID)
        #expect(found.persistentModelID != identifier)
        #expect(found.note == nil && found.labels.isEmpty)
        #expect(found.volumes.map(\.title) == ["New"])
        #expect(new.volumes.map(\.title) == ["New"])
    }

    @Test("all models can be deleted and inserted again in one save, without reading them")
    func replacingAll() throws {
        let container = try filled()
        let context = ModelContext(container)
        try context.delete(model: Shelf.self)
        context.insert(Shelf(room: "r", number: 1))
        context.insert(Shelf(room: "r", number: 2))
        try context.save()
        #expect(Set(try shelves(container).map(\.number)) == [1, 2])
    }

    @Test("a new model does not replace one that gets other unique values in the same save")
    func renaming() throws {
        let container = try filled()
        let context = ModelContext(container)
        let old = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
        old.number = 2
        let new = Shelf(room: "r", number: 1)
        new.note = "new"
        context.insert(new)
        try context.save()
        let read = try shelves(container)
        #expect(Set(read.map { "\($0.number) \($0.note ?? "")" }) == ["1 new", "2 old"])
        #expect(old.volumes.map(\.title) == ["Old"] && new.volumes.isEmpty)
    }

    @Test("an object moved from a deleted model to its replacement is not deleted")
    func moving() throws {
        let container = try ModelContainer(
            for: Crate.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let old = Crate(name: "a")
        old.wares = [Ware(name: "kept"), Ware(name: "taken")]
        context.insert(old)
        try context.save()
        let new = Crate(name: "a")
        context.insert(new)
        for ware in old.wares where ware.name == "kept" { ware.crate = new }
        context.delete(old)
        try context.save()
        let crates = try ModelContext(container).fetch(FetchDescriptor<Crate>())
        #expect(crates.map { $0.wares.map(\.name) } == [["kept"]])
        #expect(crates.first?.persistentModelID == new.persistentModelID)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Ware>()) == 1)
        #expect(new.wares.map(\.name) == ["kept"])
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
