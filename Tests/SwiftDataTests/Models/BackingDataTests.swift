import Foundation
import SwiftData
import Synchronization
import Testing

@Suite("The backing data of a model has its values by key path")
struct BackingDataTests {
    @Test("backing data has attributes and relationships by key path, optional or not")
    func values() throws {
        let context = ModelContext(try makeKinds())
        let model = Everything(text: "a", required: Target(name: "t"))
        context.insert(model)
        let data = model.persistentBackingData
        #expect(data.persistentModelID == model.persistentModelID)
        #expect(data.getValue(forKey: \.count) == 1)
        #expect(data.getValue(forKey: \.place) == Place(city: "Rome", rank: 1))
        #expect(data.getValue(forKey: \.required).name == "t")
        #expect(data.getValue(forKey: \.optional) == nil)
        #expect(data.getValue(forKey: \.many).isEmpty)
        #expect(data.getValue(forKey: \.maybe)?.isEmpty == true)
        let target = Target(name: "u")
        data.setValue(forKey: \.count, to: 2)
        data.setValue(forKey: \.note, to: "n")
        data.setValue(forKey: \.required, to: target)
        data.setValue(forKey: \.optional, to: target)
        data.setValue(forKey: \.many, to: [target])
        data.setValue(forKey: \.maybe, to: [Part(name: "p")])
        #expect(model.count == 2)
        #expect(model.note == "n")
        #expect(model.required === target)
        #expect(model.optional === target)
        #expect(model.many == [target])
        #expect(model.maybe?.map(\.name) == ["p"])
        #expect(target.requiredBy == [model])
        try context.save()
        #expect(data.persistentModelID?.isTemporary == false)
    }

    @Test("the identifier of backing data can be set while the model has no context")
    func identifier() throws {
        let permanent = try PersistentIdentifier.identifier(
            for: "store", entityName: "Article", primaryKey: 3)
        let article = Article(title: "a")
        var data = article.persistentBackingData
        let first = data.persistentModelID
        data.persistentModelID = permanent
        #expect(data.persistentModelID == permanent)
        #expect(article.persistentModelID == permanent)
        var related: [PersistentIdentifier: any BackingData] = [:]
        #expect(
            DefaultSnapshot(from: data, relatedBackingDatas: &related).persistentIdentifier
                == permanent)
        data.persistentModelID = nil
        #expect(data.persistentModelID?.isTemporary == true)
        #expect(data.persistentModelID != first)
        data.persistentModelID = permanent
        let context = ModelContext(try makeContainer())
        context.insert(article)
        let inserted = article.persistentModelID
        #expect(inserted.isTemporary)
        data.persistentModelID = permanent
        #expect(article.persistentModelID == inserted)
        try context.save()
        data.persistentModelID = nil
        #expect(!article.persistentModelID.isTemporary)
        #expect(article.persistentModelID != permanent)
    }

    @Test("backing data has transformable values by key path")
    func transformable() {
        let data = Painted().persistentBackingData
        #expect(data.getTransformableValue(forKey: \.tint) == Tint(red: 1))
        data.setTransformableValue(forKey: \.tint, to: Tint(red: 5))
        #expect(data.getTransformableValue(forKey: \.tint) == Tint(red: 5))
    }

    @Test("a model that is made from backing data shares its values")
    func initializer() {
        func make<Model: PersistentModel>(
            _ type: Model.Type
        ) -> (Model, any BackingData<Model>) {
            let data: some BackingData<Model> = Model.createBackingData()
            return (Model(backingData: data), data)
        }
        let (article, data) = make(Article.self)
        article.title = "a"
        article.keywords = ["k"]
        #expect(data.getValue(forKey: \.title) == "a")
        #expect(data.getValue(forKey: \.keywords) == ["k"])
        #expect(data.metadata as AnyObject !== article)
        let other = Article(title: "b")
        other.persistentBackingData = data
        #expect(other.title == "a")
    }

    @Test("a model has the functions of backing data by key path")
    func functions() {
        let model = Everything(text: "a", required: Target(name: "t"))
        #expect(model.getValue(forKey: \.text) == "a")
        #expect(model.getValue(forKey: \.required).name == "t")
        #expect(model.getValue(forKey: \.optional) == nil)
        #expect(model.getValue(forKey: \.many).isEmpty)
        let target = Target(name: "u")
        model.setValue(forKey: \.text, to: "b")
        model.setValue(forKey: \.required, to: target)
        model.setValue(forKey: \.optional, to: target)
        model.setValue(forKey: \.many, to: [target])
        model.setValue(forKey: \.maybe, to: nil)
        #expect(model.text == "b")
        #expect(model.required === target && model.optional === target)
        #expect(model.many == [target])
        let painted = Painted()
        painted.setTransformableValue(forKey: \.tint, to: Tint(red: 9))
        #expect(painted.getTransformableValue(forKey: \.tint) == Tint(red: 9))
    }

    @Test("a property that a program computes from others is observed by the model's registrar")
    func registrar() {
        let model = Observed()
        let flag = Flag()
        withObservationTracking {
            _ = model.hidden
        } onChange: {
            flag.isSet = true
        }
        model.hidden = 2
        #expect(flag.isSet)
        #expect(model.hidden == 2)
    }

    @Test("a key path leads to a property, to a structure's member, or to nothing")
    func keyPaths() {
        #expect(Article.property(at: \Article.title) != nil)
        #expect(Article.property(at: \Article.persistentModelID) != nil)
        #expect(Article.property(at: \Article.isShown) == nil)
        #expect(Article.members(at: \Source.site) == ["site"])
        #expect(Article.members(at: \Source.hashValue) == nil)
        #expect(Article.storedValue(of: Source(site: "a", rank: 1)) != nil)
        #expect(Article.storedValue(of: 1) == nil)
        #expect(Article.entityName == "Article")
    }

    @Test("generic code can name the element type of a list of models")
    func collections() {
        func element<List: RelationshipCollection>(_: List.Type) -> String {
            List.PersistentElement.entityName
        }
        #expect(element([Article].self) == "Article")
        #expect(element([Article]?.self) == "Article")
    }

    @Test("a snapshot of the backing data of a subclass has its own properties, too")
    func subclasses() throws {
        let car = Car(name: "c", doors: 2)
        let context = ModelContext(
            try ModelContainer(
                for: Schema([Vehicle.self, Car.self]),
                configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]))
        for isInserted in [false, true] {
            if isInserted { context.insert(car) }
            var related: [PersistentIdentifier: any BackingData] = [:]
            let snapshot = DefaultSnapshot(
                from: car.persistentBackingData, relatedBackingDatas: &related)
            #expect(snapshot.persistentIdentifier == car.persistentModelID)
            #expect(snapshot.entityName == "Car")
            let json = String(decoding: try JSONEncoder().encode(snapshot), as: UTF8.self)
            for text in ["doors", "name", "wheels"] { #expect(json.contains(text), "\(json)") }
        }
    }

    @Test("a default value of the class does not replace a value of a model that is fetched")
    func defaults() throws {
        let context = ModelContext(
            try ModelContainer(
                for: Counted.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
        for _ in 0..<10 { context.insert(Counted()) }
        try context.save()
        let other = ModelContext(context.container)
        let numbers = try context.fetch(FetchDescriptor<Counted>()).map(\.number)
        let read = try other.fetch(FetchDescriptor<Counted>())
        #expect(read.map(\.number) == numbers)
        #expect(Set(numbers).count == 10)
        #expect(!other.hasChanges)
    }
}

/// A model whose default is another one for each instance. Only one test uses it.
@Model final class Counted {
    enum Numbers {
        private static let counter = Mutex(0)
        static func next() -> Int {
            counter.withLock { counter in
                counter += 1
                return counter
            }
        }
    }

    var number = Numbers.next()

    init() {}
}

/// A model with an observed property of its own, which is not persisted.
@Model final class Observed {
    @Transient private var value = 1

    var hidden: Int {
        get {
            _$observationRegistrar.access(self, keyPath: \.hidden)
            return value
        }
        set {
            _$observationRegistrar.withMutation(of: self, keyPath: \.hidden) { value = newValue }
        }
    }

    init() {}
}
