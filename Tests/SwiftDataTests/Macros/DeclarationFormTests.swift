import Foundation
import SwiftData
import Testing

@Suite("A property is stored in every form in which Swift declares it")
struct DeclarationFormTests {
    /// A model as another context reads it after a save.
    private func saved<Model: PersistentModel>(
        _ model: Model, change: (Model) -> Void = { _ in }
    ) throws -> Model {
        let container = try ModelContainer(
            for: Model.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(model)
        change(model)
        try context.save()
        let found = try ModelContext(container).fetch(FetchDescriptor<Model>()).first
        return try #require(found)
    }

    // MARK: - Conditions

    @Test("the options of an attribute that an #if gives it are those of the schema")
    func conditionalOptions() throws {
        let entity = try #require(
            Schema(Forms.Conditional.self).entity(for: Forms.Conditional.self))
        let attributes = entity.attributesByName
        #expect(entity.uniquenessConstraints == [["key"], ["key", "code"]])
        #expect(attributes["code"]?.originalName == "old")
        #expect(attributes["kept"]?.originalName == "kept")
        #expect(attributes["kept"]?.options == [.preserveValueOnDeletion])
        #expect(attributes["hidden"] == nil)
        #expect(attributes["missing"] == nil)
        #expect(entity.relationshipsByName["parts"]?.deleteRule == .cascade)
        #expect(entity.relationshipsByName["parts"]?.inverseName == "whole")
    }

    @Test("a property in #if canImport is stored")
    func conditionalProperties() throws {
        let read = try saved(Forms.Conditional(key: 3)) { model in
            model.title = "x"
            model.made = Date(timeIntervalSinceReferenceDate: 1)
            model.size = Forms.Size(width: 4, unit: "m")
            model.last = false
            model.parts.append(Forms.Part())
            model.hidden = 5
        }
        #expect(read.key == 3)
        #expect(read.title == "x")
        #expect(read.made == Date(timeIntervalSinceReferenceDate: 1))
        #expect(read.size == Forms.Size(width: 4, unit: "m"))
        #expect(!read.last)
        #expect(read.parts.first?.whole === read)
        #expect(read.hidden == 1)
    }

    @Test("a property in #if canImport is observed and can be named in a predicate")
    func conditionalUse() throws {
        let model = Forms.Conditional(key: 1)
        let seen = ChangeCounter()
        withObservationTracking {
            _ = model.title
        } onChange: {
            seen.increment()
        }
        model.title = "new"
        #expect(seen.count == 1)
        let container = try ModelContainer(
            for: Forms.Conditional.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(model)
        let new = #Predicate<Forms.Conditional> { $0.title == "new" && $0.made == nil }
        #expect(try context.fetchCount(FetchDescriptor(predicate: new)) == 1)
        context.insert(Forms.Conditional(key: 2))
        let sorted = FetchDescriptor<Forms.Conditional>(sortBy: [SortDescriptor(\.title)])
        #expect(try context.fetch(sorted).map(\.key) == [2, 1])
    }

    @Test("a subclass has what its superclass has under a condition")
    func conditionalInheritance() throws {
        let read = try saved(Forms.Derived(code: "c")) { $0.own = 4 }
        #expect(read.platform == "Linux")
        #expect(read.own == 4)
        #expect(read.code == "c")
        #expect(read.serial == 7)
    }

    @Test("an invalid property in #if canImport is an error where the compiler uses it")
    func conditionalProblems() throws {
        let source = """
            @Model final class Item {
                #if canImport(MODULE)
                lazy var x = 1
                #endif
                init() {}
            }
            """
        let other = source.replacing("MODULE", with: "NoSuchModule")
        #expect(try ModelCompiler.errors(other) == [])
        let errors = try ModelCompiler.errors(source.replacing("MODULE", with: "Glibc"))
        #expect(errors.count == 1)
        #expect(errors.allSatisfy { $0.contains("'x' cannot be lazy") })
    }

    // MARK: - Observers

    @Test("a property with observers is stored")
    func storedObserved() throws {
        let read = try saved(Forms.Observed(title: "a")) { model in
            model.count = 4
            model.title = "b"
            model.parts = [Forms.Piece()]
            model.tint = Tint(red: 7)
        }
        #expect(read.count == 4)
        #expect(read.title == "b")
        #expect(read.parts.count == 1)
        #expect(read.tint == Tint(red: 7))
        #expect(read.log == [])
    }

    @Test("the observers of a property are called with the former and the new value")
    func observers() {
        let model = Forms.Observed(title: "a")
        model.count = 4
        #expect(model.log == ["will 4", "did 0"])
        model.log = []
        model.count = 40
        #expect(model.count == 10)
        #expect(model.log == ["will 40", "did 4"])
        model.log = []
        model.title = "a"
        model.title = "b"
        model.parts = [Forms.Piece()]
        model.tint = Tint(red: 3)
        #expect(model.log == ["a to b", "0 pieces", "tint 3"])
    }

    @Test("observers that a subclass adds to an inherited property are called")
    func inheritedObservers() throws {
        let model = Forms.Derived(code: "c")
        model.name = "derived"
        #expect(model.changes == 1)
        #expect(try saved(model).name == "derived")
    }

    // MARK: - Constants

    @Test("a constant that an initializer sets is stored")
    func constants() throws {
        let model = Forms.Constants(3)
        let read = try saved(model)
        #expect(read !== model)
        #expect(read.id == model.id)
        #expect(read.made == model.made)
        #expect(read.size == Forms.Size(width: 2, unit: "m"))
        #expect(read.tags == ["a", "b"])
        #expect(read.kind == "constant")
        #expect(read.optional == nil)
        #expect(read.open == 0.5)
        #expect(read.renamed)
        #expect(read.tint == Tint(red: 9))
        #expect(read.other == 3)
    }

    @Test("a constant can be named in predicates, orders and constraints")
    func constantUse() throws {
        let container = try ModelContainer(
            for: Forms.Constants.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let models = (0..<3).map { Forms.Constants($0) }
        for model in models { context.insert(model) }
        let id = models[1].id
        let one = FetchDescriptor<Forms.Constants>(predicate: #Predicate { $0.id == id })
        // First of pending, then of saved models.
        #expect(try context.fetch(one).map(\.other) == [1])
        try context.save()
        #expect(try ModelContext(container).fetch(one).map(\.other) == [1])
        let sorted = FetchDescriptor<Forms.Constants>(sortBy: [SortDescriptor(\.id)])
        let read = try ModelContext(container).fetch(sorted).map(\.id)
        #expect(read == read.sorted() && Set(read) == Set(models.map(\.id)))
    }

    @Test("a constant of an instance that is made before its object is read has its value")
    func constantOfFault() throws {
        let container = try ModelContainer(
            for: Forms.Constants.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let model = Forms.Constants(1)
        context.insert(model)
        try context.save()
        let other = ModelContext(container)
        let read = try #require(
            other.model(for: model.persistentModelID) as? Forms.Constants)
        #expect(read.id == model.id)
        context.delete(model)
        try context.save()
        let gone = ModelContext(container).model(for: model.persistentModelID)
        #expect((gone as? Forms.Constants)?.optional == nil)
    }

    @Test("a constant relationship is a compiler error that says what to write")
    func constantRelationship() throws {
        let errors = try ModelCompiler.errors(
            """
            @Model final class Item {
                let other: Item?
                init() { other = nil }
            }
            """)
        #expect(!errors.isEmpty)
        #expect(errors.allSatisfy { $0.contains("write 'private(set) var'") })
    }

    // MARK: - Modifiers, names and types

    @Test("a property is stored whatever its access level, its modifiers and its name")
    func modifiers() throws {
        let model = Forms.Modifiers()
        #expect(Set(model.values) == [1])
        let read = try saved(model) { $0.set(3) }
        #expect(read.values == Array(repeating: 3, count: model.values.count))
    }

    @Test("an empty list of a constraint has no effect")
    func emptyLists() throws {
        let entity = Schema(EmptyLists.self).entities.first
        #expect(entity?.uniquenessConstraints == [["id"]])
        #expect(entity?.indices == [])
        #expect(try saved(EmptyLists()).id == 1)
        let source = """
            @Model final class Item {
                #Unique<Item>([\\.id], [])
                var id = 1
                init() {}
            }
            """
        let messages = try ModelCompiler.messages(source)
        #expect(messages.count == 1)
        #expect(messages.allSatisfy { $0.contains(":4:27: warning: a list of #Unique names no") })
    }

    @Test("models compile with SwiftData as the only import")
    func onlyImport() throws {
        let messages = try ModelCompiler.messages(
            """
            @Model final class Item {
                var id = UUID()
                var at: Date
                var data: Data?
                init(at: Date) { self.at = at }
            }
            func recent(_ context: ModelContext, _ date: Date) throws -> [Item] {
                try context.fetch(
                    FetchDescriptor(
                        predicate: #Predicate { $0.at > date }, sortBy: [SortDescriptor(\\.at)]))
            }
            """, imports: ["SwiftData"])
        #expect(messages == [])
    }
}

/// Used by one test on one thread.
final class ChangeCounter: @unchecked Sendable {
    private(set) var count = 0

    func increment() { count += 1 }
}
