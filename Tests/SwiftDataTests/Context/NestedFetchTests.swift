import Foundation
import SwiftData
import Synchronization
import Testing

/// The container that the initial value of ``ReadsWhenMade`` reads from.
private let source = Mutex<ModelContainer?>(nil)

/// A model whose initial value reads the store, for every five hundredth instance.
@Model final class ReadsWhenMade {
    var number: Int
    var text: String
    @Transient var others = ReadsWhenMade.count()

    init(number: Int) {
        self.number = number
        text = String(repeating: "x", count: 100)
    }

    private static let made = Atomic<Int>(0)

    private static func count() -> Int {
        guard made.add(1, ordering: .relaxed).newValue.isMultiple(of: 500),
            let container = source.withLock({ $0 })
        else { return 0 }
        let context = ModelContext(container)
        return (try? context.fetchCount(FetchDescriptor<ReadsWhenMade>())) ?? -1
    }
}

@Suite("A fetch whose models read the store when they are made")
struct NestedFetchTests {
    @Test("a fetch whose models read the store in their initializers returns all models")
    func batches() throws {
        let folder = try StoreFileTests.Folder()
        let container = try ModelContainer(
            for: ReadsWhenMade.self,
            configurations: ModelConfiguration(url: folder.url.appending(path: "test.store")))
        let context = ModelContext(container)
        for number in 0..<5_000 { context.insert(ReadsWhenMade(number: number)) }
        try context.save()

        source.withLock { $0 = container }
        defer { source.withLock { $0 = nil } }
        let found = try ModelContext(container).fetch(
            FetchDescriptor<ReadsWhenMade>(sortBy: [SortDescriptor(\.number)]))
        #expect(found.map(\.number) == Array(0..<5_000))
        let counts = found.map(\.others).filter { $0 != 0 }
        #expect(counts == Array(repeating: 5_000, count: 10))
    }
}
