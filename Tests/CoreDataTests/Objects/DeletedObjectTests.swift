import CoreData
import Testing

/// Calls with objects that are deleted, by the context itself or by another one.
@Suite("Deleted objects")
struct DeletedObjectTests {
    /// A context with an article that it marked to delete, deleted and saved, or that another
    /// context deleted.
    private func contexts() throws -> [(NSManagedObjectContext, Article)] {
        try (0..<4).map { state in
            let context = try Library.filled()
            let ann = try context.article("Ann")
            _ = ann.category
            switch state {
            case 0: context.delete(ann)
            case 1:
                context.delete(ann)
                try context.save()
            case 2:
                let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                other.persistentStoreCoordinator = context.persistentStoreCoordinator
                other.delete(other.object(with: ann.objectID))
                try other.save()
                context.processPendingChanges()
            default: context.reset()
            }
            return (context, ann)
        }
    }

    @Test("each call of a deleted object returns a value, and its context is as usable as before")
    func objects() throws {
        for (context, ann) in try contexts() {
            let (all, tags) = (Set([ann]), ann.mutableSetValue(forKey: "tags"))
            _ = (tags.count, ann.tags, ann.category?.articles.contains(ann))
            tags.removeAllObjects()
            tags.add(ann)
            ann.addManagedObjects(ann, forKey: "tags")
            ann.removeManagedObjects(ann, forKey: "tags")
            ann.mutableOrderedSetValue(forKey: "tags").add(ann)
            ann.setPrimitiveValue("x", forKey: "title")
            ann.setValue(nil, forKey: "category")
            ann.setValuesForKeys(["words": 5])
            _ = (ann.primitiveValue(forKey: "title"), ann.dictionaryWithValues(forKeys: ["words"]))
            _ = (ann.isFault, ann.isInserted, ann.isUpdated, ann.hasPersistentChangedValues)
            _ = (ann.hasFault(forRelationshipNamed: "tags"), ann.changedValues())
            _ = (ann.objectIDs(forRelationshipNamed: "tags"), ann.committedValues(forKeys: nil))
            try? ann.validateForInsert()
            try? ann.validateForUpdate()
            try? ann.validateForDelete()
            var value: Any? = "x"
            try? ann.validateValue(&value, forKey: "title")
            _ = (ann.objectID.uriRepresentation(), ann.description, all.contains(ann))
            context.refresh(ann, mergeChanges: true)
            context.refresh(ann, mergeChanges: false)
            context.refreshAllObjects()
            context.delete(ann)
            context.processPendingChanges()
            context.rollback()
            try context.save()
            let count = try context.titles(nil).count
            #expect(count == 5 || count == 6)
        }
    }

    @Test("a deleted object as an argument, a link or a part of a request is an error or no match")
    func arguments() throws {
        for (context, ann) in try contexts() {
            let other = try context.article("bob")
            let news = other.category
            for format in ["SELF == %@", "SELF IN {%@}", "ANY category.articles == %@"] {
                _ = try? context.titles(NSPredicate(format: format, ann))
                _ = NSPredicate(format: format, ann).evaluate(with: other)
            }
            other.setValue(ann, forKey: "category")
            other.setValue(NSSet(object: ann), forKey: "tags")
            news?.mutableSetValue(forKey: "articles").add(ann)
            _ = try? context.save()
            context.rollback()
            let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Article")
            request.resultType = .dictionaryResultType
            request.predicate = NSPredicate(format: "category == %@ OR SELF == %@", ann, ann)
            _ = try? context.fetch(request)
            let update = NSBatchUpdateRequest(entityName: "Article")
            update.predicate = NSPredicate(format: "SELF == %@", ann)
            update.propertiesToUpdate = ["words": 1]
            _ = try? context.execute(update)
            let deletion = NSBatchDeleteRequest(objectIDs: [ann.objectID])
            _ = try? context.execute(deletion)
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [
                    NSInsertedObjectsKey: [ann.objectID], NSDeletedObjectsKey: [ann.objectID],
                ], into: [context])
            #expect(throws: NSError.self) { try context.existingObject(with: ann.objectID) }
            #expect(throws: NSError.self) { try context.obtainPermanentIDs(for: [new(context)]) }
            try context.obtainPermanentIDs(for: [ann])
            context.rollback()
            try context.save()
            #expect(try context.titles(nil).count == 5)
            #expect(other.title == "bob" && other.category?.name == "news")
        }
    }

    private func new(_ context: NSManagedObjectContext) -> NSManagedObject {
        Article(context: context)
    }
}
