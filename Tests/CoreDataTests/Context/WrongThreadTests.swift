import CoreData
import Testing

/// A program uses a context on its queue. Another thread is a mistake that loses nothing.
@Suite("Contexts on a wrong thread")
struct WrongThreadTests {
    private func onThread<Result: Sendable>(
        _ body: @escaping @Sendable () -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: body()) }.start()
        }
    }

    @Test(
        "a save of another thread saves the changes, or throws the error of the queue's own save",
        arguments: [true, false])
    func saves(_ isMain: Bool) async throws {
        let container = try Library.container()
        let context = isMain ? container.viewContext : container.newBackgroundContext()
        let saved = await onThread {
            let category = Category(context: context)
            category.name = "news"
            do { try context.save() } catch { return false }
            return !context.hasChanges && !category.objectID.isTemporaryID
        }
        #expect(saved)
        let request = NSFetchRequest<Category>(entityName: "Category")
        #expect(try container.newBackgroundContext().count(for: request) == 1)
        let code = await onThread {
            let second = Category(context: context)
            second.name = "news"
            var code: Int?
            do { try context.save() } catch { code = (error as NSError).code }
            context.rollback()
            return code
        }
        #expect(code == NSManagedObjectConstraintMergeError)
        #expect(!context.hasChanges)
    }

    @Test("objects of a context that others use and delete at the same time have no other values")
    func objects() async throws {
        let context = try Library.filled()
        let identifier = try context.article("Ann").objectID
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    await onThread {
                        for round in 0..<20 {
                            let ann = context.object(with: identifier) as? Article
                            ann?.words = number * 100 + round
                            _ = ann?.category?.articles.count
                            if round % 5 == 4 { try? context.save() }
                            if number == 3, round == 15, let ann { context.delete(ann) }
                        }
                    }
                }
            }
        }
        try context.save()
        #expect(try context.titles(nil).count == 5)
        #expect(throws: NSError.self) { try context.existingObject(with: identifier) }
    }
}
