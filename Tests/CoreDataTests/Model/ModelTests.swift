import CoreData
import Testing

@Suite("Managed object models")
struct ModelTests {
    private func failure(_ change: (NSManagedObjectModel) -> Void) -> String {
        let model = Library.model()
        change(model)
        let container = NSPersistentContainer(name: "Bad", managedObjectModel: model)
        container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
        var message = ""
        container.loadPersistentStores { _, error in
            guard let error = error as NSError? else { return }
            message = "\(error.code) \(error.localizedDescription) \(error.userInfo)"
        }
        return message
    }

    @Test("an entity has its properties, and those of its superentity")
    func entities() throws {
        let model = Library.model()
        let article = try #require(model.entitiesByName["Article"])
        let review = try #require(model.entitiesByName["Review"])
        #expect(review.superentity === article && article.subentitiesByName["Review"] === review)
        #expect(review.isKindOf(entity: article) && !article.isKindOf(entity: review))
        #expect(review.attributesByName.keys.contains("title"))
        #expect(article.attributesByName["stars"] == nil)
        #expect(article.relationshipsByName["tags"]?.isToMany == true)
        #expect(article.relationshipsByName["category"]?.isToMany == false)
        let category = try #require(model.entitiesByName["Category"])
        #expect(category.relationships(forDestination: article).map(\.name) == ["articles"])
        #expect(category.managedObjectClassName == NSStringFromClass(Category.self))
        #expect(category.relationshipsByName["articles"]?.inverseRelationship?.name == "category")
        #expect(article.propertiesByName["title"]?.entity === article)
        #expect(article.managedObjectModel === model)
        let title = try #require(article.attributesByName["title"])
        #expect(title.type == .string)
        title.type = .date
        #expect(title.attributeType == .dateAttributeType)
    }

    @Test("a class finds its entity")
    func classes() throws {
        let context = try Library.context()
        #expect(Category.entity().name == "Category")
        #expect(Category(context: context).entity.name == "Category")
        #expect(Category.fetchRequest().entityName == "Category")
        let generic = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        #expect(type(of: generic) == NSManagedObject.self)
    }

    @Test("a model that no store has is an error with the name")
    func mistakes() {
        let nowhere = NSRelationshipDescription()
        nowhere.name = "nowhere"
        let changes: [(String, (NSManagedObjectModel) -> Void)] = [
            ("no name", { $0.entities[0].name = nil }),
            ("[0].name", { $0.entities[0].name = "a b" }),
            ("No.Class", { $0.entities[3].managedObjectClassName = "No.Class" }),
            ("Tag.", { $0.entities[3].properties.append(NSAttributeDescription()) }),
            ("words", { $0.entities[1].attributesByName["words"]?.defaultValue = "many" }),
            (
                "category",
                { $0.entities[0].relationshipsByName["articles"]?.inverseRelationship = nil }
            ),
            ("nowhere", { $0.entities[3].properties.append(nowhere) }),
            ("transient", { $0.entities[0].relationshipsByName["articles"]?.isTransient = true }),
            ("neither", { $0.entities[3].properties.append(NSExpressionDescription()) }),
            ("nam", { $0.entities[0].uniquenessConstraints = [["nam"]] }),
            (
                "artikel",
                {
                    let count = $0.entities[0].attributesByName["articleCount"]
                    (count as? NSDerivedAttributeDescription)?.derivationExpression =
                        NSExpression(format: "artikel.@count")
                }
            ),
        ]
        #expect(failure { _ in } == "")
        for (text, change) in changes {
            let message = failure(change)
            #expect(message.contains(text), "\(text): \(message)")
        }
    }

    @Test("a derived attribute is computed by the store at the save")
    func derived() throws {
        let context = try Library.filled()
        let request = NSFetchRequest<Category>(entityName: "Category")
        request.sortDescriptors = [NSSortDescriptor(key: "articleCount", ascending: false)]
        let counts = try context.fetch(request).map { $0.value(forKey: "articleCount") as? Int }
        #expect(counts == [3, 2, 0])
    }

    @Test("an index of properties is one of the store")
    func indexes() throws {
        let model = Library.model()
        let article = try #require(model.entitiesByName["Article"])
        let words = try #require(article.propertiesByName["words"])
        let element = NSFetchIndexElementDescription(property: words, collationType: .binary)
        #expect(element.property === words && element.collationType == .binary)
        article.indexes = [NSFetchIndexDescription(name: "byWords", elements: [element])]
        #expect(article.indexes[0].name == "byWords" && article.indexes[0].elements.count == 1)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        #expect(coordinator.persistentStores.count == 1)
    }
}
