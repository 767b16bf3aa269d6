import CoreData
import Testing

@Suite("Requests of the history with a predicate")
struct HistoryRequestTests {
    private func context() throws -> NSManagedObjectContext {
        let context = try Library.filled()
        context.transactionAuthor = "editor"
        try context.article("Ann").words = 5
        let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        tag.setValue("new", forKey: "name")
        try context.save()
        context.transactionAuthor = "other"
        context.delete(try context.article("fox"))
        try context.save()
        return context
    }

    private func result(
        _ context: NSManagedObjectContext, _ fetch: NSFetchRequest<any NSFetchRequestResult>?,
        _ type: NSPersistentHistoryResultType, _ format: String, _ arguments: [Any] = [],
        limit: Int = 0
    ) throws -> Any? {
        let fetch = try #require(fetch)
        fetch.predicate = NSPredicate(format: format, argumentArray: arguments)
        fetch.fetchLimit = limit
        let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
        request.resultType = type
        return (try context.execute(request) as? NSPersistentHistoryResult)?.result
    }

    @Test("transactions are found by their author, their time and their program")
    func transactions() throws {
        let context = try context()
        func authors(_ format: String, _ arguments: [Any] = []) throws -> [String?] {
            let found = try result(
                context, NSPersistentHistoryTransaction.fetchRequest, .transactionsAndChanges,
                format, arguments)
            return (found as? [NSPersistentHistoryTransaction] ?? []).map(\.author)
        }
        #expect(try authors("author == 'editor'") == ["editor"])
        #expect(try authors("author == nil") == [nil])
        #expect(try authors("transactionNumber > 1 AND author != 'editor'") == ["other"])
        #expect(try authors("timestamp > %@", [Date(timeIntervalSinceNow: 60)]).isEmpty)
        #expect(try authors("timestamp < %@", [Date(timeIntervalSinceNow: 60)]).count == 3)
        let count = try result(
            context, NSPersistentHistoryTransaction.fetchRequest, .count, "TRUEPREDICATE", limit: 2)
        #expect(count as? Int == 2)
    }

    @Test("changes are found by their entity and their kind")
    func changes() throws {
        let context = try context()
        func changes(_ format: String, _ arguments: [Any] = []) throws -> [String] {
            let found = try result(
                context, NSPersistentHistoryChange.fetchRequest, .changesOnly, format, arguments)
            return (found as? [NSPersistentHistoryChange] ?? []).map {
                "\($0.changedObjectID.entity.name ?? "") \($0.changeType)"
            }
        }
        let tag = try #require(NSEntityDescription.entity(forEntityName: "Tag", in: context))
        #expect(try changes("changedEntity == %@", [tag]) == ["Tag insert", "Tag insert"])
        let delete = NSPersistentHistoryChangeType.delete.rawValue
        #expect(try changes("changeType == %d", [delete]) == ["Article delete"])
        let identifier = try context.article("Ann").objectID.uriRepresentation().absoluteString
        #expect(
            try changes("changedObjectURI == %@", [identifier])
                == ["Article insert", "Article update"])
    }

    @Test("mistakes in a request are errors")
    func mistakes() throws {
        let context = try context()
        let transactions = NSPersistentHistoryTransaction.fetchRequest
        #expect(throws: NSError.self) { try result(context, transactions, .count, "author ==") }
        #expect(throws: NSError.self) { try result(context, transactions, .count, "author > 5") }
        let articles = NSFetchRequest<any NSFetchRequestResult>(entityName: "Article")
        #expect(throws: NSError.self) { try result(context, articles, .count, "TRUEPREDICATE") }
        let nothing = NSFetchRequest<any NSFetchRequestResult>()
        #expect(throws: NSError.self) { try result(context, nothing, .count, "TRUEPREDICATE") }
        transactions?.sortDescriptors = [NSSortDescriptor(key: "author", ascending: true)]
        #expect(throws: NSError.self) {
            try result(context, transactions, .count, "TRUEPREDICATE")
        }
    }
}
