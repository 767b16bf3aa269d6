internal import CoreData
public import SwiftData
internal import SwiftDataKit

// Collections that have an article of a category. The category is an object in the predicate.

extension ModelContext {
    private func request<Result>(with category: Category) -> NSFetchRequest<Result>? {
        guard let object = category.managedObject else { return nil }
        let request = NSFetchRequest<Result>(entityName: "ArticleCollection")
        request.predicate = NSPredicate(
            format: "SUBQUERY(articles, $article, $article.category == %@).@count > 0", object)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    /// The number of collections with an article of a category; 0 for a category in no context.
    public func collectionCount(with category: Category) throws -> Int {
        guard let objects = managedObjectContext,
            let request: NSFetchRequest<NSManagedObject> = request(with: category)
        else { return 0 }
        return try objects.count(for: request)
    }

    /// The identifiers of the collections with an article of a category, by name. No collection is
    /// read for them.
    public func collectionIdentifiers(with category: Category) throws -> [PersistentIdentifier] {
        guard let objects = managedObjectContext,
            let request: NSFetchRequest<NSManagedObjectID> = request(with: category)
        else { return [] }
        request.resultType = .managedObjectIDResultType
        return try objects.fetch(request).compactMap(\.persistentIdentifier)
    }

    /// The collections with an article of a category, by name.
    public func collections(with category: Category) throws -> [ArticleCollection] {
        try collectionIdentifiers(with: category).compactMap {
            self[$0, as: ArticleCollection.self]
        }
    }

    /// The model with an identifier; nil if it is of another type.
    public subscript<Model: PersistentModel>(
        identifier: PersistentIdentifier, as _: Model.Type
    ) -> Model? {
        model(for: identifier) as? Model
    }
}
