import Foundation
import SwiftData
import Testing

@Suite("A model class may be isolated to a global actor")
struct GlobalActorTests {
    private static let source = """
        @MainActor @Model final class Item {
            #Unique<Item>([\\.id])
            let id: UUID
            var name: String { didSet { changes += 1 } }
            var other: Other?
            @Transient var changes = 0
            init(name: String) {
                id = UUID()
                self.name = name
            }
        }
        @Model @DataActor class Other {
            var made = Date.now
            #if canImport(Dispatch)
            var x = 1
            #endif
            var items: [Item] = []
            init() {}
        }
        @DataActor @Model final class Third: Other {
            var size = 1
            override init() { super.init() }
        }
        @globalActor actor DataActor { static let shared = DataActor() }
        @MainActor func show(_ context: ModelContext) throws -> [String] {
            let item = Item(name: "a")
            context.insert(item)
            item.name = "b"
            return try context.fetch(FetchDescriptor<Item>()).map(\\.name)
        }
        """

    private static let fetch = """

        @MainActor func fetch(_ context: ModelContext) throws -> [Item] {
            try context.fetch(
                FetchDescriptor<Item>(
                    predicate: #Predicate { $0.name == "b" }, sortBy: [SortDescriptor(\\.name)]))
        }
        """

    @Test("such a class compiles in both language modes", arguments: ["5", "6"])
    func compiles(version: String) throws {
        let messages = try ModelCompiler.messages(Self.source, ["-swift-version", version])
        #expect(messages == [])
    }

    @Test("in Swift 5 a predicate and an order name properties of such a class")
    func predicates() throws {
        let source = Self.source + Self.fetch
        #expect(try ModelCompiler.errors(source, ["-swift-version", "5"]) == [])
    }

    @Test("a property of such a class is an error outside of the actor")
    func isolation() throws {
        let errors = try ModelCompiler.errors(
            Self.source + "\nfunc read(_ item: Item) -> String { item.name }")
        #expect(errors.count == 1)
        #expect(errors.allSatisfy { $0.contains("main actor-isolated property 'name'") })
    }

    @Test("models of such a class are saved and read")
    @MainActor func values() throws {
        let container = try ModelContainer(
            for: OnMain.self, OnMainDetail.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = container.mainContext
        let detail = OnMainDetail(name: "a", size: 3)
        let model = OnMain(name: "x", detail: detail)
        context.insert(model)
        try context.save()
        model.name = "y"
        #expect(model.changes == 1)
        try context.save()
        let other = ModelContext(container)
        let read = try #require(try other.fetch(FetchDescriptor<OnMain>()).first)
        #expect(read.name == "y")
        #expect(read !== model)
        #expect(read.id == model.id)
        let readDetail = try #require(read.detail as? OnMainDetail)
        #expect(readDetail.size == 3 && readDetail.owner === read)
    }

    @Test("observers of such a class see changes of other contexts")
    @MainActor func observation() throws {
        let container = try ModelContainer(
            for: OnMain.self, OnMainDetail.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let model = OnMain(name: "x", detail: nil)
        context.insert(model)
        try context.save()
        let seen = ChangeCounter()
        withObservationTracking {
            _ = model.name
        } onChange: {
            seen.increment()
        }
        let other = ModelContext(container)
        try #require(try other.fetch(FetchDescriptor<OnMain>()).first).name = "y"
        try other.save()
        _ = try context.fetch(FetchDescriptor<OnMain>())
        #expect(model.name == "y")
        #expect(seen.count == 1)
    }

    @Test("a context of another actor counts and deletes models of such a class")
    func background() async throws {
        let container = try ModelContainer(
            for: OnMain.self, OnMainDetail.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        try await MainActor.run {
            container.mainContext.insert(OnMain(name: "x", detail: nil))
            try container.mainContext.save()
        }
        let context = ModelContext(container)
        #expect(try context.fetch(FetchDescriptor<OnMain>()).count == 1)
        try context.delete(model: OnMain.self)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<OnMain>()) == 0)
    }
}

@MainActor @Model final class OnMain {
    let id: UUID
    var name: String { didSet { changes += 1 } }
    @Relationship(inverse: \OnMainPart.owner) var detail: OnMainPart?
    @Transient var changes = 0

    init(name: String, detail: OnMainPart?) {
        id = UUID()
        self.name = name
        self.detail = detail
    }
}

@MainActor @Model class OnMainPart {
    var name: String
    var owner: OnMain?

    init(name: String) { self.name = name }
}

@MainActor @Model final class OnMainDetail: OnMainPart {
    var size: Int

    init(name: String, size: Int) {
        self.size = size
        super.init(name: name)
    }
}
