import Foundation
import SwiftData
import Testing

/// Backing data that a program writes: it has the values of another model.
private struct ModelData<Model: PersistentModel>: BackingData {
    private let model: Model
    var persistentModelID: PersistentIdentifier?
    var metadata: Any { "values of a model" }

    init(of model: Model) { self.model = model }

    init(for modelType: Model.Type) {
        model = Model(backingData: Model.createBackingData())
    }

    private func value<Value>(_ keyPath: KeyPath<Model, Value>) -> Value {
        model[keyPath: keyPath]
    }

    func getValue<Value: Decodable>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        value(keyPath)
    }
    func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        value(keyPath)
    }
    func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>) -> Value? {
        value(keyPath)
    }
    func getValue<Value: RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement { value(keyPath) }
    func getValue<Value: Decodable & RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement { value(keyPath) }
    func getTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        value(keyPath)
    }

    func setValue<Value: Encodable>(forKey: KeyPath<Model, Value>, to newValue: Value) {}
    func setValue<Value: PersistentModel>(forKey: KeyPath<Model, Value>, to newValue: Value) {}
    func setValue<Value: PersistentModel>(forKey: KeyPath<Model, Value?>, to newValue: Value?) {}
    func setValue<Value: RelationshipCollection, OtherModel>(
        forKey: KeyPath<Model, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement {}
    func setValue<Value: Encodable & RelationshipCollection, OtherModel>(
        forKey: KeyPath<Model, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement {}
    func setTransformableValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) {}
}

@Suite("Backing data that a program writes")
struct ForeignBackingDataTests {
    private func article() -> Article {
        let article = Article(title: "a", words: 3, category: Category(name: "News"))
        article.genre = .essay
        article.source = Source(site: "a.org", rank: 1)
        article.keywords = ["k"]
        article.tags = [Tag(name: "x"), Tag(name: "y")]
        return article
    }

    private func expectValues(_ copy: Article) {
        #expect(copy.title == "a")
        #expect(copy.words == 3)
        #expect(copy.published == nil)
        #expect(copy.genre == .essay)
        #expect(copy.source == Source(site: "a.org", rank: 1))
        #expect(copy.keywords == ["k"])
        #expect(copy.category?.name == "News")
        #expect(Set(copy.tags.map(\.name)) == ["x", "y"])
        #expect(copy.notes.isEmpty)
    }

    @Test("a program's own backing data gives its values to a model made from it")
    func values() throws {
        // The copy has the same models in its relationships.
        let original = article()
        let copy = Article(backingData: ModelData(of: original))
        expectValues(copy)
        #expect(copy.category === original.category)
        let context = ModelContext(try makeContainer())
        context.insert(copy)
        try context.save()
        let stored = try ModelContext(context.container).fetch(FetchDescriptor<Article>())
        #expect(stored.count == 1)
        stored.forEach(expectValues)
    }

    @Test("a program's own backing data gives its values to a model that adopts it")
    func adoption() {
        let original = article()
        let other = Article(title: "b")
        other.persistentBackingData = ModelData(of: original)
        expectValues(other)
        // The values are copied.
        other.title = "c"
        #expect(other.title == "c")
        #expect(other.persistentBackingData.getValue(forKey: \.title) == "c")
    }

    @Test("a program's own backing data gives a model relationships and transformable values")
    func kinds() {
        let painted = Painted()
        painted.tint = Tint(red: 7)
        #expect(Painted(backingData: ModelData(of: painted)).tint == Tint(red: 7))
        let (target, part) = (Target(name: "t"), Part(name: "p"))
        let original = Everything(text: "e", required: target)
        original.table = ["a": 1]
        original.many = [target]
        original.maybe = [part]
        let copy = Everything(backingData: ModelData(of: original))
        #expect(Article(backingData: ModelData(for: Article.self)).title == "")
        #expect(copy.text == "e" && copy.uuid == original.uuid && copy.price == original.price)
        #expect(copy.table == ["a": 1])
        #expect(copy.required === target)
        #expect(copy.optional == nil)
        #expect(copy.many == [target])
        #expect(copy.maybe == [part])
    }

    @Test("a program's own backing data gives a model its identifier until it is inserted")
    func identifiers() throws {
        let permanent = try PersistentIdentifier.identifier(
            for: "another", entityName: "Article", primaryKey: 3)
        let container = try makeContainer()
        let context = ModelContext(container)
        let inserted = Article(title: "b")
        context.insert(inserted)
        let foreign = [permanent, inserted.persistentModelID, Tag(name: "x").persistentModelID]
        for identifier in foreign {
            var data = ModelData(of: article())
            data.persistentModelID = identifier
            let copy = Article(backingData: data)
            #expect(copy.persistentModelID == identifier)
            context.insert(copy)
            #expect(copy.persistentModelID.isTemporary)
            #expect(copy.persistentModelID.entityName == "Article")
            #expect(copy.persistentModelID != inserted.persistentModelID)
        }
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Article>()) == 4)
    }

    @Test("a program's own backing data of a subclass gives a model the inherited properties, too")
    func inheritance() throws {
        func copy<Model: PersistentModel>(_ model: Model) -> Model {
            Model(backingData: ModelData(of: model))
        }
        let original = Boat(name: "b", mast: 2)
        original.wheels = 3
        original.harbours = [Harbour(name: "h")]
        let boat = copy(original)
        #expect(boat.name == "b" && boat.wheels == 3)
        #expect(boat.mast == 2)
        #expect(boat.harbours.map(\.name) == ["h"])
        let vehicle = Vehicle(name: "v")
        original.persistentBackingData = ModelData(of: vehicle)
        #expect(original.name == "v" && original.wheels == 0)
        #expect(original.mast == 2 && original.harbours.map(\.name) == ["h"])
        let context = ModelContext(
            try ModelContainer(
                for: Schema([Vehicle.self, Car.self, Boat.self, Harbour.self]),
                configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]))
        context.insert(boat)
        try context.save()
        let stored = try #require(
            try ModelContext(context.container).fetch(FetchDescriptor<Boat>()).first)
        #expect(stored.name == "b" && stored.wheels == 3 && stored.mast == 2)
    }
}
