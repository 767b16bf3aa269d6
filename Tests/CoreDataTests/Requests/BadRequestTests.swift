import CoreData
import Testing

/// Requests with mistakes: an error with the name, and never a trap.
@Suite("Requests with mistakes")
struct BadRequestTests {
    private func message(
        _ context: NSManagedObjectContext, _ request: NSFetchRequest<NSFetchRequestResult>
    ) -> String {
        let error = #expect(throws: NSError.self) { try context.fetch(request) }
        #expect(error?.domain == NSCocoaErrorDomain)
        return error?.localizedDescription ?? ""
    }

    private func request(_ name: String) -> NSFetchRequest<NSFetchRequestResult> {
        NSFetchRequest(entityName: name)
    }

    @Test(
        "a request for an entity that does not exist is an error with the name",
        arguments: [
            "Nothing", "article", "a b", "Article'", String(repeating: "x", count: 9_999),
        ])
    func entities(_ name: String) throws {
        let context = try Library.filled()
        for type in [
            NSFetchRequestResultType.managedObjectResultType, .managedObjectIDResultType,
            .dictionaryResultType, .countResultType,
        ] {
            let request = request(name)
            request.resultType = type
            #expect(message(context, request).contains(name.prefix(100)))
            #expect(throws: NSError.self) { try context.count(for: request) }
        }
        let update = NSBatchUpdateRequest(entityName: name)
        update.propertiesToUpdate = ["words": 1]
        let deletion = NSBatchDeleteRequest(fetchRequest: request(name))
        let insertion = NSBatchInsertRequest(entityName: name, objects: [["title": "a"]])
        for request in [update, deletion, insertion] as [NSPersistentStoreRequest] {
            let error = #expect(throws: NSError.self) { try context.execute(request) }
            #expect(error?.localizedDescription.contains(name.prefix(100)) == true)
        }
    }

    @Test("a request without an entity, and one with several result types, are errors")
    func kinds() throws {
        let context = try Library.filled()
        #expect(message(context, NSFetchRequest<NSFetchRequestResult>()).contains("no entity"))
        let several = request("Article")
        several.resultType = [.managedObjectIDResultType, .dictionaryResultType]
        #expect(message(context, several).contains("result types"))
        let wrong = NSFetchRequest<Category>(entityName: "Article")
        #expect(throws: NSError.self) { try context.fetch(wrong) }
        let count = NSFetchRequest<NSManagedObject>(entityName: "Article")
        count.resultType = .countResultType
        #expect(throws: NSError.self) { try context.fetch(count) }
    }

    @Test("an order by what no object has one value of is an error with the name")
    func orders() throws {
        let context = try Library.filled()
        for key in ["nothing", "category.nothing", "tags", "tags.name", "title.x", "a b", "", "."] {
            let request = request("Article")
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
            #expect(
                message(context, request).contains(key.split(separator: ".").last ?? "key path"))
        }
        let closure = request("Article")
        closure.sortDescriptors = [
            NSSortDescriptor(key: "title", ascending: true) { _, _ in .orderedSame }
        ]
        #expect(message(context, closure).contains("comparator"))
    }

    @Test("any limit and any offset is taken, and a negative one is none")
    func limits() throws {
        let context = try Library.filled()
        for (limit, offset, count) in [
            (Int.max, 0, 6), (Int.min, 0, 6), (-1, -1, 6), (2, 5, 1), (Int.max, Int.max, 0),
            (0, Int.max, 0), (1, Int.min, 1),
        ] {
            let request = request("Article")
            request.fetchLimit = limit
            request.fetchOffset = offset
            #expect(try context.fetch(request).count == count, "\(limit) \(offset)")
            #expect(try context.count(for: request) == count, "\(limit) \(offset)")
            context.processPendingChanges()
        }
    }

    @Test("properties to read, to group by and to prefetch that do not exist are errors")
    func properties() throws {
        let context = try Library.filled()
        func description(_ expression: NSExpression?) -> NSExpressionDescription {
            let description = NSExpressionDescription()
            description.name = "value"
            description.expression = expression
            return description
        }
        let changes: [(String, (NSFetchRequest<NSFetchRequestResult>) -> Void)] = [
            ("nothing", { $0.propertiesToFetch = ["nothing"] }),
            ("Int", { $0.propertiesToFetch = [5] }),
            ("value", { $0.propertiesToFetch = [description(nil)] }),
            (
                "nothing",
                { $0.propertiesToFetch = [description(NSExpression(forKeyPath: "nothing"))] }
            ),
            (
                "foo",
                {
                    $0.propertiesToFetch = [
                        description(NSExpression(forFunction: "foo:", arguments: [1]))
                    ]
                }
            ),
            (
                "nothing",
                {
                    $0.propertiesToGroupBy = ["nothing"]
                    $0.propertiesToFetch = ["nothing"]
                }
            ),
            (
                "title",
                {
                    $0.propertiesToGroupBy = ["words"]
                    $0.propertiesToFetch = ["title"]
                }
            ),
            (
                "Tag.name",
                {
                    $0.propertiesToGroupBy = ["tags.name"]
                    $0.propertiesToFetch = ["tags.name"]
                }
            ),
            ("havingPredicate", { $0.havingPredicate = NSPredicate(value: true) }),
            (
                "nothing",
                {
                    $0.propertiesToGroupBy = ["words"]
                    $0.propertiesToFetch = ["words"]
                    $0.havingPredicate = NSPredicate(format: "nothing > 1")
                }
            ),
        ]
        for (part, change) in changes {
            let request = request("Article")
            request.resultType = .dictionaryResultType
            change(request)
            #expect(message(context, request).contains(part))
        }
        let prefetch = request("Article")
        prefetch.relationshipKeyPathsForPrefetching = ["nothing"]
        #expect(message(context, prefetch).contains("nothing"))
        let partial = request("Article")
        partial.propertiesToFetch = ["nothing"]
        #expect(message(context, partial).contains("nothing"))
    }

    @Test("a change of many objects with a wrong name or value is an error, and changes none")
    func batches() throws {
        let context = try Library.filled()
        for (name, value) in [
            ("nothing", 1), ("words", "many"), ("words", Date()), ("category", "x"), ("tags", 1),
            ("title", NSNull()), ("words", NSExpression(format: "title")),
            ("words", NSExpression(format: "1 +")), ("", 1),
        ] as [(String, Any)] {
            let update = NSBatchUpdateRequest(entityName: "Article")
            update.propertiesToUpdate = [name: value]
            let error = #expect(throws: NSError.self, "\(name)") { try context.execute(update) }
            #expect(error?.localizedDescription.isEmpty == false)
        }
        for values in [["nothing": 1], ["words": "x"], ["title": 5]] as [[String: Any]] {
            let insertion = NSBatchInsertRequest(
                entityName: "Article", objects: [["title": "good"], values])
            #expect(throws: NSError.self) { try context.execute(insertion) }
        }
        #expect(try context.titles(nil) == ["Ann", "bob", "Élan", "dora", "Emil", "fox"])
    }

    @Test("identifiers and URIs of other stores lead to no object, in every call")
    func identifiers() throws {
        let context = try Library.filled()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let foreign = try Library.filled().article("Ann")
        let uri = foreign.objectID.uriRepresentation()
        #expect(coordinator.managedObjectID(forURIRepresentation: uri) == nil)
        for text in [
            "x-coredata://", "x-coredata:///Article/p1", "x-coredata://a/Article/p1", "file:///",
            uri.absoluteString.replacingOccurrences(of: "Article", with: "Nothing"),
            uri.absoluteString + "9999999999999999999999", uri.absoluteString + "/x",
        ] {
            let url = try #require(URL(string: text))
            #expect(coordinator.managedObjectID(forURIRepresentation: url) == nil)
        }
        #expect(context.object(with: foreign.objectID).isDeleted)
        #expect(context.registeredObject(for: foreign.objectID) == nil)
        #expect(throws: NSError.self) { try context.existingObject(with: foreign.objectID) }
        for format in ["SELF == %@", "SELF IN {%@}"] {
            let predicate = NSPredicate(format: format, foreign.objectID)
            #expect(try context.titles(predicate).isEmpty)
        }
        #expect(try context.titles(NSPredicate(format: "SELF IN %@", [foreign.objectID])).isEmpty)
        #expect(try context.titles(NSPredicate(format: "category == %@", foreign)).isEmpty)
        let rows = request("Article")
        rows.resultType = .dictionaryResultType
        for object in [foreign, Article(context: context)] {
            rows.predicate = NSPredicate(format: "SELF == %@", object)
            #expect(try context.fetch(rows).isEmpty)
        }
        context.rollback()
        let deletion = NSBatchDeleteRequest(objectIDs: [foreign.objectID])
        deletion.resultType = .resultTypeCount
        let result = try? context.execute(deletion) as? NSBatchDeleteResult
        #expect(result?.result as? Int ?? 0 == 0)
        context.delete(foreign)
        context.refresh(foreign, mergeChanges: true)
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [foreign.objectID], "x": 5],
            into: [context])
        #expect(!context.hasChanges)
        #expect(try context.titles(nil).count == 6)
    }
}
