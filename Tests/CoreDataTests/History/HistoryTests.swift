import CoreData
import Testing

@Suite("The history")
struct HistoryTests {
    private func history(
        _ request: NSPersistentHistoryChangeRequest, _ context: NSManagedObjectContext
    ) throws -> [NSPersistentHistoryTransaction] {
        let result = try context.execute(request) as? NSPersistentHistoryResult
        return try #require(result?.result as? [NSPersistentHistoryTransaction])
    }

    @Test("transactions after a token have the changes, the author and the next token")
    func transactions() throws {
        let context = try Library.filled()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let start = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        let date = Date()
        context.transactionAuthor = "tester"
        let ann = try context.article("Ann")
        ann.words = 7
        context.delete(try context.article("fox"))
        _ = Article(context: context)
        try context.save()
        let found = try history(.fetchHistory(after: start), context)
        #expect(found.count == 1 && found[0].author == "tester")
        #expect(found[0].storeID == coordinator.persistentStores[0].identifier)
        #expect(found[0].processID == "\(ProcessInfo.processInfo.processIdentifier)")
        #expect(found[0].timestamp >= date.addingTimeInterval(-1) && found[0].bundleID == "")
        let changes = try #require(found[0].changes)
        #expect(changes.map(\.changeType) == [.insert, .update, .delete])
        #expect(changes.map(\.changeID) == [0, 1, 2])
        #expect(changes[1].changedObjectID == ann.objectID)
        #expect(changes[1].updatedProperties?.map(\.name) == ["words"])
        #expect(changes[0].updatedProperties == nil && changes[1].tombstone == nil)
        #expect(changes[2].tombstone?.isEmpty == true)
        #expect(changes[0].transaction === found[0])
        #expect(try history(.fetchHistory(after: found[0].token), context).isEmpty)
        #expect(try history(.fetchHistory(after: found[0]), context).isEmpty)
        #expect(try history(.fetchHistory(after: nil), context).count == 2)
        let last = try history(.fetchHistory(after: date), context)
        #expect(last.map(\.transactionNumber) == [2])
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: start)
        #expect(request.token == start)
        let data = try JSONEncoder().encode(start)
        #expect(try JSONDecoder().decode(NSPersistentHistoryToken.self, from: data) == start)
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode(NSPersistentHistoryToken.self, from: Data("[\"x\"]".utf8))
        }
    }

    @Test("a request has its result by the type")
    func types() throws {
        let context = try Library.filled()
        func result(_ type: NSPersistentHistoryResultType) throws -> Any? {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil)
            request.resultType = type
            let result = try context.execute(request) as? NSPersistentHistoryResult
            #expect(result?.resultType == type)
            return result?.result
        }
        #expect(try result(.statusOnly) as? Bool == true)
        #expect(try result(.count) as? Int == 1)
        #expect((try result(.objectIDs) as? [NSManagedObjectID])?.count == 10)
        #expect((try result(.changesOnly) as? [NSPersistentHistoryChange])?.count == 10)
        let only = try result(.transactionsOnly) as? [NSPersistentHistoryTransaction]
        #expect(only?.count == 1 && only?[0].changes == nil)
    }

    @Test("the notification of a transaction is merged into another context")
    func merging() throws {
        let context = try Library.filled()
        let ann = try context.article("Ann")
        let start = context.persistentStoreCoordinator?.currentPersistentHistoryToken(
            fromStores: nil)
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        try other.existingObject(with: ann.objectID).setValue(9, forKey: "words")
        try other.save()
        #expect(ann.words == 0)
        for transaction in try history(.fetchHistory(after: start), context) {
            let notification = transaction.objectIDNotification()
            let changed = notification.userInfo?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID>
            #expect(changed == [ann.objectID])
            context.mergeChanges(fromContextDidSave: notification)
        }
        #expect(ann.words == 9)
    }

    @Test("old transactions are deleted, and a token before them is an error")
    func deletion() throws {
        let context = try Library.filled()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let start = try history(.fetchHistory(after: nil), context)[0].token
        for words in 1...3 {
            try context.article("Ann").words = words
            try context.save()
        }
        let end = coordinator.currentPersistentHistoryToken(fromStores: nil)
        let deletion = NSPersistentHistoryChangeRequest.deleteHistory(before: end)
        deletion.resultType = .count
        let result = try context.execute(deletion) as? NSPersistentHistoryResult
        #expect(result?.result as? Int == 3)
        let error = #expect(throws: NSError.self) {
            try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: start))
        }
        #expect(error?.code == NSPersistentHistoryTokenExpiredError)
        let none = NSPersistentHistoryChangeRequest.deleteHistory(before: nil)
        #expect((try context.execute(none) as? NSPersistentHistoryResult)?.result as? Bool == true)
        let before = NSPersistentHistoryChangeRequest.deleteHistory(before: .distantPast)
        try context.execute(before)
        let foreign = try Library.filled().persistentStoreCoordinator?
            .currentPersistentHistoryToken(fromStores: nil)
        #expect(throws: NSError.self) {
            try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: foreign))
        }
        let empty = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        #expect(throws: NSError.self) { try empty.execute(before) }
    }
}
