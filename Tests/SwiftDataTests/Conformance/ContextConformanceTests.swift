import Foundation
import SwiftData
import Testing

@Suite("Contexts, as documented")
struct ContextConformanceTests {
    private func context(_ words: Int...) throws -> ModelContext {
        let context = ModelContext(try makeContainer())
        for count in words { context.insert(Article(title: "\(count)", words: count)) }
        try context.save()
        return context
    }

    @Test("the author of a context is the author of its editing state")
    func author() throws {
        let context = try context()
        #expect(context.author == nil)
        context.author = "ann"
        #expect(context.editingState.author == "ann")
        context.editingState.author = "bob"
        #expect(context.author == "bob")
        let state: EditingState = context.editingState
        #expect(state.id == context.editingState.id)
        #expect(state.id != ModelContext(context.container).editingState.id)
        context.insert(Note(text: "n"))
        try context.save()
        #expect(try context.fetchHistory(Transactions()).map(\.author) == ["bob"])
    }

    @Test("autosave is off, except for the main context, and can be set")
    func autosave() async throws {
        let context = try context()
        #expect(!context.autosaveEnabled)
        context.autosaveEnabled = true
        #expect(context.autosaveEnabled)
        try await MainActor.run {
            let main = try makeContainer().mainContext
            #expect(main.autosaveEnabled)
            main.autosaveEnabled = false
            #expect(!main.autosaveEnabled)
        }
    }

    @Test("the keys of the notification of a save have the documented names")
    func keys() throws {
        typealias Key = ModelContext.NotificationKey
        #expect(Key.insertedIdentifiers.rawValue == "inserted")
        #expect(Key.updatedIdentifiers.rawValue == "updated")
        #expect(Key.deletedIdentifiers.rawValue == "deleted")
        #expect(Key(rawValue: "queryGeneration") == .queryGeneration)
        #expect(Key(rawValue: "invalidatedAllIdentifiers") == .invalidatedAllIdentifiers)
        #expect(Key(rawValue: "historyTokens") == .historyTokens)
    }

    @Test("the notification of a save has sets of inserted, updated and deleted models")
    func notification() throws {
        final class Seen: @unchecked Sendable {
            // Written and read by one test.
            var info: [AnyHashable: Any] = [:]
        }
        let context = try context(1, 2)
        let models = try context.fetch(FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words)]))
        let seen = Seen()
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { seen.info = $0.userInfo ?? [:] }
        defer { NotificationCenter.default.removeObserver(observer) }
        models[0].words = 5
        context.delete(models[1])
        let note = Note(text: "n")
        context.insert(note)
        try context.save()
        func identifiers(_ key: ModelContext.NotificationKey) -> Set<PersistentIdentifier>? {
            seen.info[key] as? Set<PersistentIdentifier>
        }
        #expect(identifiers(.insertedIdentifiers) == [note.persistentModelID])
        #expect(identifiers(.updatedIdentifiers) == [models[0].persistentModelID])
        #expect(identifiers(.deletedIdentifiers) == [models[1].persistentModelID])
        for name in ["inserted", "updated", "deleted"] {
            #expect((seen.info[name] as? [PersistentIdentifier])?.count == 1)
        }
    }

    @Test("insert inserts the whole graph of a model")
    func insertCascades() throws {
        let context = try context()
        let article = Article(title: "a", category: Category(name: "c"))
        let tag = Tag(name: "t")
        let second = Article(title: "b")
        tag.articles = [second]
        article.tags = [tag]
        article.notes = [Note(text: "n")]
        context.insert(article)
        #expect(context.insertedModelsArray.count == 5)
        #expect(second.modelContext === context)
        try context.save()
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Article>()) == 2)
    }

    @Test("a deleted model is in deletedModelsArray and has its context until the save")
    func deleteMarks() throws {
        let context = try context(1)
        let model = try #require(try context.fetch(FetchDescriptor<Article>()).first)
        context.delete(model)
        #expect(context.deletedModelsArray.map(\.persistentModelID) == [model.persistentModelID])
        #expect(model.isDeleted)
        #expect(model.hasChanges)
        #expect(model.modelContext === context)
        #expect(try context.fetch(FetchDescriptor<Article>()).isEmpty)
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Article>()) == 1)
        try context.save()
        #expect(context.deletedModelsArray.isEmpty)
        #expect(model.modelContext == nil)
    }

    @Test("a model that is inserted and deleted before the save is no change")
    func insertAndDelete() throws {
        let context = try context()
        let model = Article(title: "a")
        context.insert(model)
        context.delete(model)
        #expect(!context.hasChanges)
        #expect(context.deletedModelsArray.isEmpty)
    }

    @Test("a deletion by predicate includes subclasses, unless it excludes them")
    func deletionOfSubclasses() throws {
        func remaining(_ includeSubclasses: Bool?) throws -> [String] {
            let context = ModelContext(
                try ModelContainer(
                    for: Vehicle.self, Car.self,
                    configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
            context.insert(Vehicle(name: "bike"))
            context.insert(Car(name: "car", doors: 2))
            try context.save()
            if let includeSubclasses {
                try context.delete(model: Vehicle.self, includeSubclasses: includeSubclasses)
            } else {
                try context.delete(model: Vehicle.self, where: #Predicate { $0.name != "" })
            }
            try context.save()
            return try ModelContext(context.container).fetch(FetchDescriptor<Vehicle>()).map(\.name)
        }
        #expect(try remaining(nil) == [])
        #expect(try remaining(true) == [])
        #expect(try remaining(false) == ["car"])
    }

    @Test("transaction runs its block, then saves; an error of the block saves nothing")
    func transaction() throws {
        struct Failure: Error {}
        let context = try context()
        try context.transaction { context.insert(Tag(name: "t")) }
        let other = ModelContext(context.container)
        #expect(try other.fetchCount(FetchDescriptor<Tag>()) == 1)
        #expect(throws: Failure.self) {
            try context.transaction {
                context.insert(Tag(name: "u"))
                throw Failure()
            }
        }
        #expect(context.hasChanges)
        #expect(try other.fetchCount(FetchDescriptor<Tag>()) == 1)
    }

    @Test("rollback discards inserts and deletes, and restores values and relationships")
    func rollback() throws {
        let context = try context(1, 2)
        let models = try context.fetch(FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words)]))
        let tag = Tag(name: "t")
        context.insert(tag)
        try context.save()
        models[0].words = 7
        models[0].tags = [tag]
        context.delete(models[1])
        let new = Note(text: "n")
        context.insert(new)
        context.rollback()
        #expect(!context.hasChanges)
        #expect(models[0].words == 1)
        #expect(models[0].tags.isEmpty)
        #expect(tag.articles.isEmpty)
        #expect(!models[1].isDeleted)
        #expect(new.modelContext == nil)
    }

    @Test("enumerate calls the block for each model, and stops at its error")
    func enumerate() throws {
        struct Stop: Error {}
        let context = try context(1, 2, 3)
        var seen: [Int] = []
        let descriptor = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words, order: .reverse)]
        )
        try context.enumerate(descriptor) { seen.append($0.words) }
        #expect(seen == [3, 2, 1])
        #expect(throws: Stop.self) {
            try context.enumerate(descriptor, batchSize: 2) { model in
                if model.words == 2 { throw Stop() }
                seen.append(model.words)
            }
        }
        #expect(seen == [3, 2, 1, 3])
    }

    @Test("the block of enumerate leaves no changes, unless they may escape")
    func escapingMutations() throws {
        let context = try context(1, 2)
        #expect(throws: SwiftDataError.modelValidationFailure) {
            try context.enumerate(FetchDescriptor<Article>()) { $0.words += 1 }
        }
        context.rollback()
        try context.enumerate(FetchDescriptor<Article>(), allowEscapingMutations: true) {
            $0.words += 1
        }
        #expect(context.hasChanges)
        try context.save()
        try context.enumerate(FetchDescriptor<Article>()) { model in
            model.words += 1
            try context.save()
        }
        let other = ModelContext(context.container)
        #expect(Set(try other.fetch(FetchDescriptor<Article>()).map(\.words)) == [3, 4])
    }

    @Test("model(for:) returns the registered model without a refresh")
    func modelIsNotRefreshed() throws {
        let context = try context(1)
        let model = try #require(try context.fetch(FetchDescriptor<Article>()).first)
        let other = ModelContext(context.container)
        try other.fetch(FetchDescriptor<Article>()).first?.words = 2
        try other.save()
        #expect(context.model(for: model.persistentModelID) as? Article === model)
        #expect(model.words == 1)
        _ = try context.fetch(FetchDescriptor<Article>())
        #expect(model.words == 2)
    }

    @Test("registeredModel(for:) returns only a model of the context, and reads no store")
    func registeredModel() throws {
        let context = try context(1)
        let model = try #require(try context.fetch(FetchDescriptor<Article>()).first)
        let found: Article? = context.registeredModel(for: model.persistentModelID)
        #expect(found === model)
        let other: Article? = ModelContext(context.container).registeredModel(
            for: model.persistentModelID)
        #expect(other == nil)
        let wrong: Tag? = context.registeredModel(for: model.persistentModelID)
        #expect(wrong == nil)
    }
}

@Suite("Fetches, as documented")
struct FetchConformanceTests {
    private func context(_ words: Int...) throws -> ModelContext {
        let context = ModelContext(try makeContainer())
        for count in words { context.insert(Article(title: "\(count)", words: count)) }
        try context.save()
        return context
    }

    @Test("a fetch descriptor without arguments fetches everything, also pending changes")
    func descriptor() {
        var descriptor = FetchDescriptor<Article>()
        #expect(descriptor.predicate == nil)
        #expect(descriptor.sortBy.isEmpty)
        #expect(descriptor.fetchLimit == nil)
        #expect(descriptor.fetchOffset == nil)
        #expect(descriptor.includePendingChanges)
        #expect(descriptor.propertiesToFetch.isEmpty)
        #expect(descriptor.relationshipKeyPathsForPrefetching.isEmpty)
        #expect(descriptor == FetchDescriptor<Article>())
        descriptor.fetchLimit = 1
        #expect(descriptor != FetchDescriptor<Article>())
        #expect(
            FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words)])
                == FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words)]))
        func sendable<T: Sendable>(_ value: T) {}
        sendable(descriptor)
    }

    @Test("limit and offset of a fetch apply to the sorted result, with pending changes too")
    func limits() throws {
        let context = try context(3, 1, 2)
        var descriptor = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words)])
        descriptor.fetchOffset = 1
        descriptor.fetchLimit = 1
        #expect(try context.fetch(descriptor).map(\.words) == [2])
        #expect(try context.fetchCount(descriptor) == 1)
        context.insert(Article(title: "0", words: 0))
        #expect(try context.fetch(descriptor).map(\.words) == [1])
        #expect(try context.fetchCount(descriptor) == 1)
        descriptor.fetchOffset = 10
        #expect(try context.fetch(descriptor).isEmpty)
        #expect(try context.fetchCount(descriptor) == 0)
    }

    @Test("a fetch without pending changes has the result of the store")
    func storedOnly() throws {
        let context = try context(1, 2)
        context.insert(Article(title: "3", words: 3))
        var descriptor = FetchDescriptor<Article>(predicate: #Predicate { $0.words > 1 })
        #expect(try context.fetchCount(descriptor) == 2)
        descriptor.includePendingChanges = false
        #expect(try context.fetchCount(descriptor) == 1)
        #expect(try context.fetch(descriptor).map(\.words) == [2])
        #expect(try context.fetchIdentifiers(descriptor).count == 1)
    }

    @Test("fetchIdentifiers returns the identifiers of the models in order, also in batches")
    func identifiers() throws {
        let context = try context(2, 1, 3)
        let descriptor = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words)])
        let expected = try context.fetch(descriptor).map(\.persistentModelID)
        #expect(try context.fetchIdentifiers(descriptor) == expected)
        let batches: FetchResultsCollection<PersistentIdentifier> = try context.fetchIdentifiers(
            descriptor, batchSize: 2)
        #expect(Array(batches) == expected)
    }

    @Test("the result of a fetch in batches is a random access collection from zero")
    func collection() throws {
        let context = try context(1, 2, 3, 4, 5)
        let results: FetchResultsCollection<Article> = try context.fetch(
            FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words)]), batchSize: 2)
        let first: Int = results.startIndex
        let indices: Range<Int> = results.indices
        #expect(first == 0)
        #expect(indices == 0..<5)
        #expect(results.endIndex == 5)
        #expect(results.reversed().map(\.words) == [5, 4, 3, 2, 1])
        #expect(results[results.index(results.startIndex, offsetBy: 3)].words == 4)
        #expect(results[1..<3].map(\.words) == [2, 3])
        #expect(results.first === results.first)
    }

    @Test("a fetch by the identifier of another store, entity or context finds nothing")
    func foreignIdentifiers() throws {
        let context = try context(1)
        let other = try self.context(1)
        let foreign = try #require(
            try other.fetch(FetchDescriptor<Article>()).first?.persistentModelID)
        let parcels = ModelContext(try makeArchive())
        let parcel = Parcel(code: "p")
        parcels.insert(parcel)
        let tag = Tag(name: "t")
        context.insert(tag)
        func check() throws {
            for id in [foreign, parcel.persistentModelID, tag.persistentModelID] {
                let ids: Set = [id]
                func count(_ predicate: Predicate<Article>) throws -> Int {
                    let descriptor = FetchDescriptor(predicate: predicate)
                    let count = try context.fetchCount(descriptor)
                    #expect(try context.fetch(descriptor).count == count)
                    return count
                }
                #expect(try count(#Predicate { $0.persistentModelID == id }) == 0)
                #expect(try count(#Predicate { $0.persistentModelID != id }) == 1)
                #expect(try count(#Predicate { ids.contains($0.persistentModelID) }) == 0)
                #expect(try count(#Predicate { $0.category?.persistentModelID == foreign }) == 0)
            }
        }
        try check()
        try context.save()
        try parcels.save()
        try check()
        try context.fetch(FetchDescriptor<Article>()).first?.title = "changed"
        try check()
    }

    @Test("models are sorted along relationships to one model")
    func sortAlongRelationships() throws {
        let context = try context()
        for (title, name) in [("1", "b"), ("2", "a"), ("3", nil)] {
            context.insert(
                Article(title: title, category: name.map { Category(name: $0) }))
        }
        let descriptor = FetchDescriptor<Article>(
            sortBy: [SortDescriptor(\.category?.name, order: .reverse)])
        #expect(try context.fetch(descriptor).map(\.title) == ["1", "2", "3"])
        try context.save()
        #expect(try context.fetch(descriptor).map(\.title) == ["1", "2", "3"])
    }

    @Test("models are sorted by the characters of strings, or in an order for people")
    func sortStrings() throws {
        let context = try context()
        for title in ["b", "a10", "A9", "ä", "Z"] {
            context.insert(Article(title: title, category: Category(name: title)))
        }
        let byCharacters = SortDescriptor(\Article.title)
        let forPeople = SortDescriptor(\Article.title, comparator: .localizedStandard)
        let comparator = LocalizedStringComparator.localized
        let reversed = SortDescriptor(\Article.title, comparator: comparator, order: .reverse)
        let along = SortDescriptor(\Article.category?.name, comparator: .localizedStandard)
        for _ in 0..<2 {
            func titles(_ sort: SortDescriptor<Article>) throws -> [String] {
                let found = try context.fetch(FetchDescriptor(sortBy: [sort]))
                #expect(found.sorted(using: sort).map(\.title) == found.map(\.title))
                return found.map(\.title)
            }
            #expect(try titles(byCharacters) == ["A9", "Z", "a10", "b", "ä"])
            #expect(try titles(forPeople) == ["ä", "A9", "a10", "b", "Z"])
            #expect(try titles(reversed) == ["Z", "b", "a10", "A9", "ä"])
            #expect(try titles(along) == ["ä", "A9", "a10", "b", "Z"])
            try context.save()
        }
        let computed = SortDescriptor(\Article.title.localizedCapitalized, comparator: .localized)
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
            try context.fetch(FetchDescriptor(sortBy: [computed]))
        }
    }

    @Test("models are sorted by members of structures that are stored as documents")
    func sortByMembers() throws {
        let context = ModelContext(try makeKinds())
        for (city, rank) in [("Rome", 2), ("Oslo", 10), ("Bonn", 1)] {
            let model = Everything(text: city, required: Target(name: city))
            model.place = Place(city: city, rank: rank)
            context.insert(model)
        }
        func texts(_ sort: SortDescriptor<Everything>) throws -> [String] {
            try context.fetch(FetchDescriptor(sortBy: [sort])).map(\.text)
        }
        for _ in 0..<2 {
            #expect(try texts(SortDescriptor(\.place.city)) == ["Bonn", "Oslo", "Rome"])
            #expect(try texts(SortDescriptor(\.place.rank)) == ["Bonn", "Rome", "Oslo"])
            #expect(
                try texts(SortDescriptor(\.required.name, order: .reverse))
                    == ["Rome", "Oslo", "Bonn"])
            try context.save()
        }
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
            try texts(SortDescriptor(\.place.hashValue))
        }
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
            try texts(SortDescriptor(\.many.count))
        }
    }

    @Test("a property to fetch or to prefetch that is not persisted is an error")
    func unknownProperties() throws {
        let context = try context(1)
        var descriptor = FetchDescriptor<Article>()
        descriptor.propertiesToFetch = [\.isShown]
        #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.fetch(descriptor) }
        descriptor.propertiesToFetch = []
        descriptor.relationshipKeyPathsForPrefetching = [\.isShown]
        #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.fetch(descriptor) }
    }
}
