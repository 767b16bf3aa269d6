import CoreData

/// A class of Core Data with accessors as they are written by hand.
class Article: NSManagedObject {
    var title: String {
        get { value(forKey: "title") as? String ?? "" }
        set { setValue(newValue, forKey: "title") }
    }

    var words: Int {
        get { value(forKey: "words") as? Int ?? 0 }
        set { setValue(newValue, forKey: "words") }
    }

    var category: Category? {
        get { value(forKey: "category") as? Category }
        set { setValue(newValue, forKey: "category") }
    }

    var tags: Set<NSManagedObject> {
        get { value(forKey: "tags") as? Set<NSManagedObject> ?? [] }
        set { setValue(newValue, forKey: "tags") }
    }
}

final class Category: NSManagedObject {
    var name: String {
        get { value(forKey: "name") as? String ?? "" }
        set { setValue(newValue, forKey: "name") }
    }

    var articles: Set<Article> {
        get { value(forKey: "articles") as? Set<Article> ?? [] }
        set { setValue(newValue, forKey: "articles") }
    }
}

extension Article {
    @nonobjc public class func fetchRequest() -> NSFetchRequest<Article> {
        NSFetchRequest<Article>(entityName: "Article")
    }
}

extension Article: Identifiable {}

/// Categories with articles, of which some are reviews, and tags.
enum Library {
    static func attribute(
        _ name: String, _ type: NSAttributeType, isOptional: Bool = true, _ value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = isOptional
        attribute.defaultValue = value
        return attribute
    }

    static func relate(
        _ source: NSEntityDescription, _ name: String, isToMany: Bool,
        _ destination: NSEntityDescription, _ inverseName: String, inverseIsToMany: Bool,
        rule: NSDeleteRule = .nullifyDeleteRule
    ) {
        let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
        there.name = name
        there.destinationEntity = destination
        there.maxCount = isToMany ? 0 : 1
        there.deleteRule = rule
        back.name = inverseName
        back.destinationEntity = source
        back.maxCount = inverseIsToMany ? 0 : 1
        there.inverseRelationship = back
        back.inverseRelationship = there
        source.properties.append(there)
        destination.properties.append(back)
    }

    static func model() -> NSManagedObjectModel {
        let (category, article) = (NSEntityDescription(), NSEntityDescription())
        let (review, tag) = (NSEntityDescription(), NSEntityDescription())
        category.name = "Category"
        category.managedObjectClassName = NSStringFromClass(Category.self)
        category.properties = [attribute("name", .stringAttributeType, isOptional: false)]
        category.uniquenessConstraints = [["name"]]
        article.name = "Article"
        article.managedObjectClass = Article.self
        article.properties = [
            attribute("title", .stringAttributeType, isOptional: false, ""),
            attribute("words", .integer32AttributeType, isOptional: false, 0),
            attribute("price", .doubleAttributeType), attribute("cost", .decimalAttributeType),
            attribute("isDraft", .booleanAttributeType, isOptional: false, false),
            attribute("published", .dateAttributeType), attribute("uuid", .UUIDAttributeType),
            attribute("link", .URIAttributeType), attribute("content", .binaryDataAttributeType),
            attribute("extra", .transformableAttributeType),
        ]
        let cached = attribute("cached", .stringAttributeType)
        cached.isTransient = true
        article.properties.append(cached)
        review.name = "Review"
        review.managedObjectClass = Article.self
        review.properties = [attribute("stars", .integer16AttributeType)]
        article.subentities = [review]
        tag.name = "Tag"
        tag.properties = [attribute("name", .stringAttributeType, isOptional: false)]
        relate(
            category, "articles", isToMany: true, article, "category", inverseIsToMany: false,
            rule: .cascadeDeleteRule)
        relate(article, "tags", isToMany: true, tag, "articles", inverseIsToMany: true)
        let count = NSDerivedAttributeDescription()
        count.name = "articleCount"
        count.attributeType = .integer64AttributeType
        count.derivationExpression = NSExpression(format: "articles.@count")
        category.properties.append(count)
        let model = NSManagedObjectModel()
        model.entities = [category, article, review, tag]
        return model
    }

    static func container(
        _ change: (NSPersistentStoreDescription) -> Void = { $0.type = NSInMemoryStoreType }
    ) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: model())
        change(container.persistentStoreDescriptions[0])
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    static func context() throws -> NSManagedObjectContext {
        try container().newBackgroundContext()
    }

    /// A context with three categories and six articles that are saved.
    static func filled() throws -> NSManagedObjectContext {
        let context = try context()
        try fill(context)
        return context
    }

    static func fill(_ context: NSManagedObjectContext) throws {
        let names = ["news", "sport", "art"]
        let categories = names.map { name in
            let category = Category(context: context)
            category.name = name
            return category
        }
        let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        tag.setValue("short", forKey: "name")
        for (index, title) in ["Ann", "bob", "Élan", "dora", "Emil", "fox"].enumerated() {
            let article = Article(context: context)
            article.title = title
            article.words = index * 100
            article.setValue(Double(index) + 0.5, forKey: "price")
            article.setValue(index == 5, forKey: "isDraft")
            article.setValue(
                Date(timeIntervalSinceReferenceDate: Double(index)), forKey: "published")
            article.category = index < 5 ? categories[index / 3] : nil
            if index < 2 { article.tags = [tag] }
        }
        try context.save()
    }
}

extension NSManagedObjectContext {
    /// The titles of the articles that match.
    func titles(
        _ predicate: NSPredicate?, _ order: [NSSortDescriptor]? = nil
    ) throws -> [String] {
        let request: NSFetchRequest<Article> = Article.fetchRequest()
        request.predicate = predicate
        request.sortDescriptors = order ?? [NSSortDescriptor(key: "words", ascending: true)]
        return try fetch(request).map(\.title)
    }

    func article(_ title: String) throws -> Article {
        let request: NSFetchRequest<Article> = Article.fetchRequest()
        request.predicate = NSPredicate(format: "title == %@", title)
        return try fetch(request)[0]
    }
}
