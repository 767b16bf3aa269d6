import Foundation
import SwiftData
import TestSupport
import Testing

@Suite("Documented semantics of contexts")
struct SemanticsTests {
    @Test("identifiers are Codable, temporary ones too, and find the object")
    func coding() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let article = Article(title: "a")
        context.insert(article)
        for isTemporary in [true, false] {
            let identifier = article.persistentModelID
            #expect(identifier.isTemporary == isTemporary)
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let data = try encoder.encode(identifier)
            #expect(try encoder.encode(identifier) == data)
            let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: data)
            #expect(decoded == identifier)
            let model: Article? = context.registeredModel(for: decoded)
            #expect(model === article)
            #expect(context.model(for: decoded) as? Article === article)
            try context.save()
        }
        let saved = article.persistentModelID
        #expect(ModelContext(container).model(for: saved) as? Article == article)
        #expect(saved.entityName == "Article")
        #expect(saved.storeIdentifier != nil)
    }

    @Test("the arrays of a context have the inserted, changed and deleted models")
    func arrays() throws {
        let context = ModelContext(try makeContainer())
        let (one, two) = (Article(title: "1"), Article(title: "2"))
        context.insert(one)
        context.insert(two)
        #expect(context.insertedModelsArray.map { $0 as? Article } == [one, two])
        try context.save()
        #expect(context.insertedModelsArray.isEmpty)
        one.title = "3"
        context.delete(two)
        #expect(context.changedModelsArray.map { $0 as? Article } == [one])
        #expect(context.deletedModelsArray.map { $0 as? Article } == [two])
        #expect(one.hasChanges)
        #expect(context.hasChanges)
        context.rollback()
        #expect(!context.hasChanges)
        #expect(!two.isDeleted)
    }

    @Test("a change of a to-many alone is an update of its owner")
    func toManyIsUpdate() throws {
        let context = ModelContext(try makeContainer())
        let article = Article(title: "a")
        let tag = Tag(name: "t")
        context.insert(article)
        context.insert(tag)
        try context.save()
        let seen = Seen()
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { seen.identifiers = $0.userInfo?["updated"] as? [PersistentIdentifier] ?? [] }
        defer { NotificationCenter.default.removeObserver(observer) }
        article.tags.append(tag)
        #expect(context.hasChanges)
        try context.save()
        #expect(seen.identifiers.contains(article.persistentModelID))
    }

    private final class Seen: @unchecked Sendable {
        // Written and read by one test.
        var identifiers: [PersistentIdentifier] = []
        var events: [String] = []
    }

    @Test("willSave comes before didSave, both on the saving thread, and has no userInfo")
    func order() throws {
        let context = ModelContext(try makeContainer())
        let seen = Seen()
        let thread = ObjectIdentifier(Thread.current)
        let center = NotificationCenter.default
        let observers = [ModelContext.willSave, ModelContext.didSave].map { name in
            center.addObserver(forName: name, object: context, queue: nil) { note in
                let isHere = ObjectIdentifier(Thread.current) == thread
                seen.events.append("\(note.name == ModelContext.willSave) \(isHere)")
                if note.name == ModelContext.willSave { #expect(note.userInfo == nil) }
            }
        }
        defer { for observer in observers { center.removeObserver(observer) } }
        context.insert(Article(title: "a"))
        try context.save()
        #expect(seen.events == ["true true", "false true"])
    }

    @Test("an insert with existing unique values updates the row with the newest values and links")
    func upsert() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let first = Category(name: "tech")
        first.articles = [Article(title: "old")]
        context.insert(first)
        try context.save()
        let other = ModelContext(container)
        let second = Category(name: "tech")
        second.articles = [Article(title: "new")]
        other.insert(second)
        try other.save()
        let fresh = ModelContext(container)
        let found = try fresh.fetch(FetchDescriptor<Category>())
        #expect(found.count == 1)
        #expect(found.first?.articles.contains { $0.title == "new" } == true)
        #expect(second.persistentModelID == first.persistentModelID)
    }

    @Test("a save drops links to objects that another context has deleted")
    func linksToDeleted() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let article = Article(title: "a")
        let (tag, category) = (Tag(name: "t"), Category(name: "c"))
        context.insert(article)
        context.insert(tag)
        context.insert(category)
        try context.save()
        article.tags = [tag]
        article.category = category
        article.title = "b"
        let other = ModelContext(container)
        try other.delete(model: Tag.self)
        try other.delete(model: Category.self)
        try other.save()
        let tagged = FetchDescriptor<Article>(
            predicate: #Predicate { $0.tags.contains { $0.name != "" } })
        #expect(try context.fetchCount(tagged) == 0)
        try context.save()
        #expect(!context.hasChanges)
        #expect(article.tags.isEmpty)
        #expect(article.category == nil)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Article>()).map(\.title) == ["b"])
    }

    @Test("a list with pending changes shows the additions of other contexts after a fetch")
    func mergedLists() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let article = Article(title: "a")
        context.insert(article)
        let tags = ["1", "2", "3"].map { Tag(name: $0) }
        article.tags = [tags[0]]
        for tag in tags { context.insert(tag) }
        try context.save()
        article.tags.append(tags[1])
        let other = ModelContext(container)
        let same = try #require(try other.fetch(FetchDescriptor<Article>()).first)
        same.tags += try other.fetch(FetchDescriptor<Tag>()).filter { $0.name == "3" }
        try other.save()
        _ = try context.fetch(FetchDescriptor<Article>())
        #expect(Set(article.tags.map(\.name)) == ["1", "2", "3"])
        context.rollback()
        #expect(Set(article.tags.map(\.name)) == ["1", "3"])
    }

    @Test("a deleted model is not inserted again by a relationship")
    func noResurrection() throws {
        let context = ModelContext(try makeContainer())
        let article = Article(title: "a")
        let category = Category(name: "c")
        context.insert(article)
        context.insert(category)
        try context.save()
        context.delete(article)
        try context.save()
        article.category = category
        category.articles = [article]
        #expect(category.articles.isEmpty)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Article>()) == 0)
        context.insert(article)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Article>()) == 1)
    }

    @Test("a fetch without a sort has the order of insertion, pending models last")
    func insertionOrder() throws {
        let context = ModelContext(try makeContainer())
        for title in ["c", "a"] { context.insert(Article(title: title)) }
        try context.save()
        context.insert(Article(title: "b"))
        #expect(try context.fetch(FetchDescriptor<Article>()).map(\.title) == ["c", "a", "b"])
        let byIdentifier = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.persistentModelID)])
        #expect(try context.fetch(byIdentifier).map(\.title) == ["c", "a", "b"])
    }

    @Test("transaction saves, and a deletion by predicate includes pending inserts")
    func transaction() throws {
        let context = ModelContext(try makeContainer())
        try context.transaction {
            context.insert(Article(title: "a", words: 1))
        }
        #expect(!context.hasChanges)
        context.insert(Article(title: "b", words: 1))
        try context.delete(model: Article.self, where: #Predicate { $0.words == 1 })
        #expect(try context.fetchCount(FetchDescriptor<Article>()) == 0)
    }

    @Test("a fetch in batches with pending changes, and of sorted identifiers, is an error")
    func errors() throws {
        let context = ModelContext(try makeContainer())
        context.insert(Article(title: "a"))
        #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) {
            try context.fetch(FetchDescriptor<Article>(), batchSize: 2)
        }
        #expect(throws: SwiftDataError.sortingPendingChangesWithIdentifiers) {
            try context.fetchIdentifiers(
                FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words)]))
        }
    }

    @MainActor
    @Test(
        "the main context saves after a turn of the main actor, and other contexts do not")
    func autosave() async throws {
        let container = try makeContainer()
        #expect(container.mainContext.autosaveEnabled)
        #expect(!ModelContext(container).autosaveEnabled)
        #expect(container.mainContext === container.mainContext)
        container.mainContext.insert(Article(title: "a"))
        var turns = 0
        while container.mainContext.hasChanges, turns < 10_000 {
            turns += 1
            await Task.yield()
        }
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Article>()) == 1)
    }

    @MainActor @Test("the main context saves again after a save of its own has failed")
    func autosaveAfterFailure() async throws {
        let container = try ModelContainer(
            for: Unusual.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = container.mainContext
        let unusual = Unusual()
        // It needs a node.
        context.insert(unusual)
        for _ in 0..<100 { await Task.yield() }
        #expect(context.hasChanges)
        unusual.nodes = [Node()]
        var turns = 0
        while context.hasChanges, turns < 10_000 {
            turns += 1
            await Task.yield()
        }
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Unusual>()) == 1)
    }

    @Test("a model actor may get its context from another initializer")
    func secondInitializer() async throws {
        let container = try makeContainer()
        let actor = await Bound(container: container)
        try await actor.add()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Article>()) == 1)
    }

    @Test("many containers with unsaved changes are released with their models")
    func containers() throws {
        weak var last: ModelContainer?
        for _ in 0..<100 {
            let container = try makeContainer()
            let context = ModelContext(container)
            context.insert(Article(title: "a", category: Category(name: "c")))
            last = container
        }
        #expect(eventually { last == nil })
    }
}

@ModelActor actor Bound {
    @MainActor init(container: ModelContainer) {
        modelContainer = container
        modelExecutor = DefaultSerialModelExecutor(modelContext: container.mainContext)
    }

    func add() throws {
        modelContext.insert(Article(title: "a"))
        try modelContext.save()
    }
}

@Model class Vehicle {
    var name: String
    var wheels: Int = 0
    init(name: String) { self.name = name }
}

@Model class Car: Vehicle {
    var doors: Int = 4
    init(name: String, doors: Int) {
        self.doors = doors
        super.init(name: name)
    }
}

@Model final class Boat: Vehicle {
    var mast: Double
    @Relationship(inverse: \Harbour.boats) var harbours: [Harbour] = []
    init(name: String, mast: Double) {
        self.mast = mast
        super.init(name: name)
    }
}

@Model final class Harbour {
    var name: String
    var boats: [Boat] = []
    init(name: String) { self.name = name }
}

@Suite("Inherited models")
struct InheritanceTests {
    @Test("inherited models are fetched as their superclass, with the properties of both")
    func inheritance() throws {
        let container = try ModelContainer(
            for: Vehicle.self, Car.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(Vehicle(name: "bike"))
        context.insert(Car(name: "car", doors: 2))
        for _ in 0..<2 {
            #expect(try context.fetch(FetchDescriptor<Vehicle>()).map(\.name) == ["bike", "car"])
            let cars = FetchDescriptor<Car>(
                predicate: #Predicate { $0.doors == 2 && $0.name == "car" })
            #expect(try context.fetch(cars).map(\.doors) == [2])
            try context.save()
        }
        let read = try ModelContext(container).fetch(FetchDescriptor<Vehicle>())
        #expect((read.last as? Car)?.doors == 2)
        #expect(read.first is Car == false)
    }

    @Test("models of several classes that are fetched together have the properties of their own")
    func siblings() throws {
        let container = try ModelContainer(
            for: Vehicle.self, Car.self, Boat.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let boats = (0..<3).map { Boat(name: "boat", mast: 7.5 + Double($0)) }
        boats[1].harbours = [Harbour(name: "Kiel"), Harbour(name: "Bari")]
        for boat in boats {
            context.insert(boat)
            context.insert(Vehicle(name: "bike"))
            context.insert(Car(name: "car", doors: 2))
        }
        try context.save()
        let vehicles = try ModelContext(container).fetch(FetchDescriptor<Vehicle>())
        #expect(vehicles.compactMap { ($0 as? Boat)?.harbours.count } == [0, 2, 0])
        #expect(vehicles.compactMap { ($0 as? Boat)?.mast } == [7.5, 8.5, 9.5])
        #expect(vehicles.compactMap { ($0 as? Car)?.doors } == [2, 2, 2])
        #expect(vehicles.map(\.wheels) == Array(repeating: 0, count: 9))
    }

    @Test("a fetch of a superclass refreshes the properties that subclasses have of their own")
    func refreshing() throws {
        let container = try ModelContainer(
            for: Vehicle.self, Car.self, Boat.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let (boat, changed) = (Boat(name: "boat", mast: 7.5), Boat(name: "boat", mast: 9.5))
        let car = Car(name: "car", doors: 2)
        let vehicles = [boat, changed, car]
        for vehicle in vehicles { context.insert(vehicle) }
        try context.save()
        changed.mast = 1
        let other = ModelContext(container)
        for vehicle in try other.fetch(FetchDescriptor<Vehicle>()) {
            vehicle.wheels += 1
            (vehicle as? Car)?.doors += 1
            (vehicle as? Boat)?.mast += 1
        }
        try other.save()
        #expect(boat.mast == 7.5 && changed.mast == 1 && car.doors == 2)
        #expect(try context.fetchCount(FetchDescriptor<Vehicle>()) == 3)
        _ = try context.fetch(FetchDescriptor<Vehicle>())
        #expect(vehicles.allSatisfy { $0.wheels == 1 })
        #expect(boat.mast == 8.5 && changed.mast == 1 && car.doors == 3)
        #expect(!boat.hasChanges && changed.hasChanges)
    }

    @Test("a predicate can test the class of a model, and read a subclass's property by a cast")
    func casts() throws {
        let container = try ModelContainer(
            for: Vehicle.self, Car.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(Vehicle(name: "bike"))
        context.insert(Car(name: "small", doors: 2))
        context.insert(Car(name: "large", doors: 4))
        func names(_ predicate: Predicate<Vehicle>) throws -> [String] {
            try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name)
        }
        for _ in 0..<2 {
            #expect(try names(#Predicate { $0 is Car }) == ["small", "large"])
            #expect(
                try names(
                    #Predicate {
                        if let car = $0 as? Car { car.doors > 2 } else { false }
                    }) == ["large"])
            #expect(
                try names(
                    #Predicate {
                        if let car = $0 as? Car { car.name == "small" } else { true }
                    }) == ["bike", "small"])
            #expect(try names(#Predicate { ($0 as? Car)?.doors != 4 }) == ["bike", "small"])
            try context.save()
        }
    }
}
