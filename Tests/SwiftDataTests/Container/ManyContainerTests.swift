import Foundation
import SwiftData
import Testing

@Suite("Many containers", .serialized)
struct ManyContainerTests {
    /// What the process has in use.
    private struct Usage {
        let descriptors: Int
        let threads: Int
        let memoryFiles: Int

        init() throws {
            let files = FileManager.default
            descriptors = try files.contentsOfDirectory(atPath: "/proc/self/fd").count
            threads = try files.contentsOfDirectory(atPath: "/proc/self/task").count
            memoryFiles = try files.contentsOfDirectory(atPath: "/dev/shm").count
        }
    }

    @Test("1,000 successive containers are released, and leave no descriptor, thread or file")
    func thousand() throws {
        weak var last: ModelContainer?
        func use(_ index: Int) throws {
            let container = try makeContainer()
            last = container
            let context = ModelContext(container)
            context.insert(Article(title: "\(index)", category: Category(name: "c")))
            if index.isMultiple(of: 2) {
                try context.save()
                #expect(try ModelContext(container).fetchCount(FetchDescriptor<Article>()) == 1)
            }
        }
        for index in 0..<100 { try use(index) }
        let before = try Usage()
        for index in 0..<1_000 {
            try use(index)
            #expect(last == nil)
        }
        let after = try Usage()
        // Other tests run at the same time; a leak of each container would add a thousand.
        #expect(after.descriptors < before.descriptors + 200)
        #expect(after.threads < before.threads + 100)
        #expect(after.memoryFiles < before.memoryFiles + 200)
    }

    @MainActor @Test("1,000 containers with a main context and an undo manager are released")
    func mainContexts() throws {
        weak var last: ModelContainer?
        for index in 0..<1_000 {
            let container = try makeContainer()
            container.mainContext.autosaveEnabled = false
            container.mainContext.undoManager = UndoManager()
            container.mainContext.insert(Tag(name: "\(index)"))
            container.mainContext.processPendingChanges()
            last = container
        }
        #expect(last == nil)
    }
}
