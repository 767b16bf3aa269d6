import Foundation
import SwiftData
import Testing

/// A model with an `id` of its own, as many programs have.
@Model final class Member {
    @Attribute(.unique) var id: UUID
    var name: String
    var friends: [Member]? = nil
    @Relationship(inverse: \Member.friends) var friendOf: [Member]? = nil

    init(name: String) {
        id = UUID()
        self.name = name
    }
}

@Suite("Models, as documented")
struct ModelConformanceTests {
    @Test("a model without a context has an identifier that stays the same, and no context")
    func unmanaged() throws {
        let article = Article(title: "a")
        let identifier = article.persistentModelID
        #expect(identifier.isTemporary)
        #expect(article.persistentModelID == identifier)
        #expect(article.id == identifier)
        #expect(article.modelContext == nil)
        #expect(!article.isDeleted)
        #expect(!article.hasChanges)
        let context = ModelContext(try makeContainer())
        context.insert(article)
        #expect(article.persistentModelID == identifier)
        #expect(article.hasChanges)
        try context.save()
        #expect(article.persistentModelID != identifier)
        #expect(!article.hasChanges)
    }

    @Test("a model may declare an id, which is then its id")
    func ownIdentifier() throws {
        let container = try ModelContainer(
            for: Member.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let member = Member(name: "Ann")
        context.insert(member)
        try context.save()
        let id: UUID = member.id
        let found = try ModelContext(container).fetch(
            FetchDescriptor<Member>(predicate: #Predicate { $0.id == id }))
        #expect(found.map(\.name) == ["Ann"])
        #expect(found.first?.persistentModelID == member.persistentModelID)
    }

    @Test("models of one object are equal and have one hash, also in different contexts")
    func equality() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let article = Article(title: "a")
        #expect(article != Article(title: "a"))
        context.insert(article)
        try context.save()
        let other = try #require(
            try ModelContext(container).fetch(FetchDescriptor<Article>()).first)
        #expect(other !== article)
        #expect(other == article)
        #expect(Set([other, article]).count == 1)
    }

    @Test("an optional list that is nil or empty is read as an empty list")
    func optionalLists() throws {
        let container = try ModelContainer(
            for: Member.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let (ann, bob) = (Member(name: "Ann"), Member(name: "Bob"))
        context.insert(ann)
        context.insert(bob)
        ann.friends = [bob]
        #expect(bob.friendOf?.map(\.name) == ["Ann"])
        try context.save()
        let sort = FetchDescriptor<Member>(sortBy: [SortDescriptor(\.name)])
        let read = try ModelContext(container).fetch(sort)
        #expect(read.map { $0.friends?.count } == [1, 0])
        ann.friends = nil
        #expect(bob.friendOf?.isEmpty == true)
        try context.save()
        #expect(try ModelContext(container).fetch(sort).first?.friends?.isEmpty == true)
    }

    @Test("schemaMetadata names each persisted property with its key path")
    func metadata() {
        let names = Tag.schemaMetadata.map { Mirror(reflecting: $0).children }
            .compactMap { $0.first { $0.label == "name" }?.value as? String }
        #expect(names == ["name", "articles"])
        let metadata: [Schema.PropertyMetadata] = Tag.schemaMetadata
        #expect(metadata.count == 2)
    }

    @Test("the root of a model's class hierarchy is its topmost model class")
    func root() {
        #expect(Vehicle.Root.self == Vehicle.self)
        #expect(Car.Root.self == Vehicle.self)
        #expect(Article.Root.self == Article.self)
    }
}

@Suite("Backing data, as documented")
struct BackingDataConformanceTests {
    /// How generic code reads a relationship, whatever its form.
    private func count<Collection: RelationshipCollection>(
        _ collection: Collection, of type: Collection.PersistentElement.Type
    ) -> String { "\(Collection.self) of \(type)" }

    @Test("an array of models and an optional one are relationship collections")
    func relationshipCollections() {
        let tag = Tag(name: "t")
        let none: [Tag]? = nil
        #expect(count([tag], of: Tag.self) == "Array<Tag> of Tag")
        #expect(count(none, of: Tag.self) == "Optional<Array<Tag>> of Tag")
        #expect((Set<Int>.self as Any) is any RelationshipCollection.Type == false)
        #expect(([Int].self as Any) is any RelationshipCollection.Type == false)
    }

    @Test("the backing data of a model reads and writes every kind of property by key path")
    func accessors() throws {
        let context = ModelContext(try makeKinds())
        let (red, blue) = (Target(name: "red"), Target(name: "blue"))
        let model = Everything(text: "a", required: red)
        context.insert(model)
        context.insert(blue)
        let data: any BackingData<Everything> = model.persistentBackingData
        data.setValue(forKey: \.text, to: "b")
        data.setValue(forKey: \.count, to: 7)
        data.setValue(forKey: \.place, to: Place(city: "Oslo", rank: 2))
        data.setValue(forKey: \.required, to: blue)
        data.setValue(forKey: \.optional, to: red)
        data.setValue(forKey: \.many, to: [red, blue])
        data.setValue(forKey: \.maybe, to: [Part(name: "p")])
        data.setTransformableValue(forKey: \.note, to: "n")
        #expect(model.text == "b")
        #expect(model.required === blue)
        #expect(model.optional === red)
        #expect(Set(model.many.map(\.name)) == ["red", "blue"])
        #expect(blue.requiredBy == [model])
        let text: String = data.getValue(forKey: \.text)
        let place: Place = data.getValue(forKey: \.place)
        let required: Target = data.getValue(forKey: \.required)
        let optional: Target? = data.getValue(forKey: \.optional)
        let many: [Target] = data.getValue(forKey: \.many)
        let maybe: [Part]? = data.getValue(forKey: \.maybe)
        let note: String? = data.getTransformableValue(forKey: \.note)
        #expect(text == "b")
        #expect(place.city == "Oslo")
        #expect(required === blue)
        #expect(optional === red)
        #expect(many.count == 2)
        #expect(maybe?.map(\.name) == ["p"])
        #expect(note == "n")
        #expect(data.persistentModelID == model.persistentModelID)
        try context.save()
        #expect(model.persistentBackingData.persistentModelID == model.persistentModelID)
    }

    @Test("the accessors of a model by key path are those of its backing data")
    func modelAccessors() throws {
        let context = ModelContext(try makeContainer())
        let article = Article(title: "a")
        context.insert(article)
        article.setValue(forKey: \.title, to: "b")
        article.setValue(forKey: \.category, to: Category(name: "c"))
        article.setValue(forKey: \.tags, to: [Tag(name: "t")])
        let title: String = article.getValue(forKey: \.title)
        let category: Category? = article.getValue(forKey: \.category)
        let tags: [Tag] = article.getValue(forKey: \.tags)
        #expect(title == "b")
        #expect(category?.name == "c")
        #expect(tags.map(\.name) == ["t"])
        article.setTransformableValue(forKey: \.published, to: nil as Date?)
        let published: Date? = article.getTransformableValue(forKey: \.published)
        #expect(published == nil)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Tag>()) == 1)
    }

    @Test("backing data that a model class creates makes a model with it")
    func creation() throws {
        func make<M: PersistentModel>(_ type: M.Type) -> M {
            M(backingData: M.createBackingData())
        }
        let tag = make(Tag.self)
        tag.name = "t"
        let context = ModelContext(try makeContainer())
        context.insert(tag)
        try context.save()
        #expect(
            try ModelContext(context.container).fetch(FetchDescriptor<Tag>()).map(\.name) == ["t"])
    }

    @Test("a model that is given the backing data of another model has its values")
    func assignment() throws {
        let (one, two) = (Tag(name: "1"), Tag(name: "2"))
        one.persistentBackingData = two.persistentBackingData
        #expect(one.name == "2")
        #expect(one.persistentModelID == two.persistentModelID)
        #expect(
            one.persistentBackingData.metadata as AnyObject === two.persistentBackingData.metadata
                as AnyObject)
    }
}
