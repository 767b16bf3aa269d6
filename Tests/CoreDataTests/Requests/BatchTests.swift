import CoreData
import Testing

@Suite("Batch requests")
struct BatchTests {
    @Test("a batch update sets constants and expressions, and has its result by the type")
    func updates() throws {
        let context = try Library.filled()
        let request = NSBatchUpdateRequest(entityName: "Article")
        request.predicate = NSPredicate(format: "words >= %d", 400)
        request.propertiesToUpdate = [
            "isDraft": true, "words": NSExpression(format: "words + %d", 1),
        ]
        request.resultType = .updatedObjectsCountResultType
        let result = try context.execute(request) as? NSBatchUpdateResult
        #expect(result?.result as? Int == 2)
        #expect(try context.titles(NSPredicate(format: "isDraft == YES")) == ["Emil", "fox"])
        #expect(try context.article("fox").words == 501)
        request.resultType = .updatedObjectIDsResultType
        let changed = try context.execute(request) as? NSBatchUpdateResult
        let identifiers = changed?.result as? [NSManagedObjectID]
        #expect(identifiers?.count == 2)
        request.resultType = .statusOnlyResultType
        #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Bool == true)
        request.propertiesToUpdate = ["titel": "x"]
        let error = #expect(throws: NSError.self) { try context.execute(request) }
        #expect(error?.localizedDescription.contains("titel") == true)
        request.propertiesToUpdate = ["words": "many"]
        #expect(throws: NSError.self) { try context.execute(request) }
        #expect(throws: NSError.self) {
            try context.execute(NSBatchUpdateRequest(entityName: "Nothing"))
        }
    }

    @Test("objects without changes are read again after a batch update, if they are merged")
    func merging() throws {
        let context = try Library.filled()
        let fox = try context.article("fox")
        let request = NSBatchUpdateRequest(entityName: "Article")
        request.propertiesToUpdate = ["words": 7]
        request.resultType = .updatedObjectIDsResultType
        let result = try context.execute(request) as? NSBatchUpdateResult
        #expect(fox.words == 500)
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [
                NSUpdatedObjectsKey: try #require(result?.result as? [NSManagedObjectID])
            ], into: [context])
        #expect(fox.words == 7)
    }

    @Test("a batch deletion applies the delete rules, and contexts learn of it")
    func deletions() throws {
        let context = try Library.filled()
        let ann = try context.article("Ann")
        let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Category")
        fetch.predicate = NSPredicate(format: "name == 'news'")
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeCount
        #expect((try context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 1)
        #expect(try context.titles(nil) == ["dora", "Emil", "fox"])
        #expect(ann.isDeleted)
        let byIdentifier = NSBatchDeleteRequest(objectIDs: [try context.article("fox").objectID])
        byIdentifier.resultType = .resultTypeObjectIDs
        let result = try context.execute(byIdentifier) as? NSBatchDeleteResult
        #expect((result?.result as? [NSManagedObjectID])?.count == 1)
        #expect(try context.titles(nil) == ["dora", "Emil"])
        let none = NSBatchDeleteRequest(objectIDs: [])
        #expect((try context.execute(none) as? NSBatchDeleteResult)?.result as? Bool == true)
        fetch.predicate = NSPredicate(format: "nam == 'x'")
        #expect(throws: NSError.self) {
            try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        }
    }

    @Test("a batch insertion stores objects, and updates those with the same unique values")
    func insertions() throws {
        let context = try Library.filled()
        let request = NSBatchInsertRequest(
            entityName: "Category", objects: [["name": "news"], ["name": "music"]])
        request.resultType = .count
        #expect((try context.execute(request) as? NSBatchInsertResult)?.result as? Int == 2)
        let all = NSFetchRequest<Category>(entityName: "Category")
        #expect(try context.count(for: all) == 4)
        var number = 0
        let handler = NSBatchInsertRequest(entityName: "Article") {
            (dictionary: NSMutableDictionary) in
            number += 1
            guard number <= 3 else { return true }
            dictionary["title"] = "article \(number)"
            dictionary["words"] = number
            return false
        }
        handler.resultType = .objectIDs
        let result = try context.execute(handler) as? NSBatchInsertResult
        let identifiers = try #require(result?.result as? [NSManagedObjectID])
        #expect(identifiers.map { (context.object(with: $0) as? Article)?.words } == [1, 2, 3])
        number = 0
        let objects = NSBatchInsertRequest(entityName: "Article") { (object: NSManagedObject) in
            number += 1
            guard number <= 2, let article = object as? Article else { return true }
            article.title = "object \(number)"
            return false
        }
        let status = try context.execute(objects) as? NSBatchInsertResult
        #expect(status?.result as? Bool == true && status?.resultType == .statusOnly)
        #expect(try context.titles(NSPredicate(format: "title LIKE 'object ?'")).count == 2)
        for bad in [["titel": "x"], ["title": 5], ["title": "x", "words": "y"]] as [[String: Any]] {
            let request = NSBatchInsertRequest(entityName: "Article", objects: [bad])
            #expect(throws: NSError.self) { try context.execute(request) }
        }
        #expect(throws: NSError.self) {
            try context.execute(NSFetchRequest<NSNumber>(entityName: "Article"))
        }
    }
}
