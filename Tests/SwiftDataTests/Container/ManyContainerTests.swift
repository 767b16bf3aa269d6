import Foundation
import SwiftData
import TestSupport
import Testing

@Suite("Many containers", .serialized)
struct ManyContainerTests {
    @Test("300 successive containers are released, and leave no descriptor, thread or file")
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
        for index in 0..<30 { try use(index) }
        let before = try ProcessResources.now()
        for index in 0..<300 {
            try use(index)
            // A thread that delivers a commit may have it for a moment.
            #expect(eventually { last == nil })
        }
        #expect(try before.leak(after: 300) == nil)
    }

    @MainActor @Test("300 containers with a main context and an undo manager are released")
    func mainContexts() throws {
        weak var last: ModelContainer?
        for index in 0..<300 {
            let container = try makeContainer()
            container.mainContext.autosaveEnabled = false
            container.mainContext.undoManager = UndoManager()
            container.mainContext.insert(Tag(name: "\(index)"))
            container.mainContext.processPendingChanges()
            last = container
        }
        #expect(eventually { last == nil })
    }
}
