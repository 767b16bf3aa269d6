import CoreData
import Testing

@Suite("Requests with dictionaries")
struct DictionaryTests {
    private func expression(
        _ name: String, _ function: String, _ operand: NSExpression,
        _ type: NSAttributeType = .undefinedAttributeType
    ) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(forFunction: function, arguments: [operand])
        description.expressionResultType = type
        return description
    }

    @Test("the articles of each category are counted in the store")
    func groups() throws {
        let context = try Library.filled()
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Article")
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = ["category.name"]
        let count = expression(
            "count", "count:", NSExpression.expressionForEvaluatedObject(), .integer64AttributeType)
        request.propertiesToFetch = [
            "category.name", count, expression("words", "sum:", NSExpression(forKeyPath: "words")),
            expression("mean", "average:", NSExpression(forKeyPath: "price"), .doubleAttributeType),
        ]
        request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
        let rows = try #require(try context.fetch(request) as? [[String: Any]])
        #expect(rows.map { $0["category.name"] as? String } == ["news", "sport", nil])
        #expect(rows.map { $0["count"] as? Int } == [3, 2, 1])
        #expect(rows.map { $0["words"] as? Int } == [300, 700, 500])
        #expect(rows.map { $0["mean"] as? Double } == [1.5, 4, 5.5])
        request.havingPredicate = NSPredicate(format: "%@ > 1", NSExpression(forVariable: "count"))
        #expect(try context.fetch(request).count == 2)
        request.havingPredicate = NSPredicate(format: "%@ > 2", count.expression)
        #expect(try context.fetch(request).count == 1)
        request.havingPredicate = NSPredicate(format: "max:(words) >= 400")
        #expect(try context.fetch(request).count == 2)
        request.havingPredicate = nil
        request.predicate = NSPredicate(format: "words > %d AND category != nil", 100)
        request.fetchLimit = 1
        #expect((try context.fetch(request) as? [[String: Any]])?.first?["count"] as? Int == 2)
    }

    @Test("groups by a relationship have the identifiers of its objects")
    func relationships() throws {
        let context = try Library.filled()
        let request = NSFetchRequest<NSDictionary>(entityName: "Article")
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = ["category"]
        request.propertiesToFetch = [
            "category", expression("longest", "max:", NSExpression(forKeyPath: "words")),
        ]
        request.predicate = NSPredicate(format: "category != nil")
        let rows = try context.fetch(request)
        let found = try rows.map { row in
            let identifier = try #require(row["category"] as? NSManagedObjectID)
            let category = try context.existingObject(with: identifier)
            return ((category as? Category)?.name, row["longest"] as? Int)
        }
        #expect(found.count == 2)
        #expect(found.contains { $0.0 == "news" && $0.1 == 200 })
        #expect(found.contains { $0.0 == "sport" && $0.1 == 400 })
    }

    @Test("without groups, aggregates are those of all objects")
    func totals() throws {
        let context = try Library.filled()
        let request = NSFetchRequest<NSDictionary>(entityName: "Article")
        request.resultType = .dictionaryResultType
        let total = NSExpressionDescription()
        total.name = "total"
        total.expression = NSExpression(format: "sum(words)")
        total.resultType = .double
        request.propertiesToFetch = [total]
        #expect(total.resultType == .double)
        #expect(try context.fetch(request).map { $0["total"] as? Double } == [1_500])
    }

    @Test("without aggregates, there is a dictionary for each object, or each different one")
    func values() throws {
        let context = try Library.filled()
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Article")
        request.resultType = .dictionaryResultType
        let tags = NSExpressionDescription()
        tags.name = "tagCount"
        tags.expression = NSExpression(forKeyPath: "tags.@count")
        request.propertiesToFetch = ["title", tags]
        request.sortDescriptors = [NSSortDescriptor(key: "words", ascending: true)]
        request.fetchLimit = 3
        let rows = try #require(try context.fetch(request) as? [[String: Any]])
        #expect(rows.map { $0["title"] as? String } == ["Ann", "bob", "Élan"])
        #expect(rows.map { $0["tagCount"] as? Int } == [1, 1, 0])
        let names = NSFetchRequest<NSFetchRequestResult>(entityName: "Article")
        names.resultType = .dictionaryResultType
        names.propertiesToFetch = ["category.name"]
        names.returnsDistinctResults = true
        #expect(try context.fetch(names).count == 3)
        names.propertiesToFetch = nil
        names.returnsDistinctResults = false
        let all = try #require(try context.fetch(names) as? [[String: Any]])
        #expect(all.count == 6 && all[0]["title"] is String && all[0]["cost"] == nil)
    }

    @Test("a request that no store has is an error with the name")
    func mistakes() throws {
        let context = try Library.filled()
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Article")
        request.resultType = .dictionaryResultType
        func message(_ change: () -> Void) -> String {
            request.propertiesToGroupBy = nil
            request.propertiesToFetch = nil
            request.havingPredicate = nil
            change()
            let error = #expect(throws: NSError.self) { try context.fetch(request) }
            return error?.localizedDescription ?? ""
        }
        let unnamed = NSExpressionDescription()
        unnamed.name = "nothing"
        #expect(message { request.propertiesToFetch = [unnamed] }.contains("nothing"))
        #expect(message { request.propertiesToFetch = ["titel"] }.contains("titel"))
        #expect(message { request.propertiesToFetch = [5] }.contains("Int"))
        #expect(
            message {
                request.propertiesToGroupBy = ["category"]
                request.propertiesToFetch = ["title"]
            }.contains("title"))
        #expect(
            message { request.havingPredicate = NSPredicate(format: "words > 1") }
                .contains("havingPredicate"))
        #expect(
            message {
                request.propertiesToGroupBy = ["category"]
                request.propertiesToFetch = [
                    expression("x", "foo:", NSExpression(forKeyPath: "words"))
                ]
            }.contains("foo:"))
        #expect(message { request.propertiesToGroupBy = ["tags"] } != "")
        request.resultType = [.countResultType, .dictionaryResultType]
        #expect(throws: NSError.self) { try context.fetch(request) }
    }
}
