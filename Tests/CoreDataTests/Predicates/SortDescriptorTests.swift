import CoreData
import Testing

@Suite("Sort descriptors")
struct SortDescriptorTests {
    @Test("objects are in the order of the descriptors, in the store and in memory")
    func order() throws {
        let context = try Library.filled()
        let orders = [
            (
                [NSSortDescriptor(key: "words", ascending: false)],
                ["fox", "Emil", "dora", "Élan", "bob", "Ann"]
            ),
            (
                [
                    NSSortDescriptor(key: "category.name", ascending: true),
                    NSSortDescriptor(key: "words", ascending: false),
                ], ["fox", "Élan", "bob", "Ann", "Emil", "dora"]
            ),
        ]
        let all = try context.fetch(NSFetchRequest<Article>(entityName: "Article"))
        for (descriptors, titles) in orders {
            #expect(try context.titles(nil, descriptors) == titles)
            let sorted = all.sorted { first, second in
                for descriptor in descriptors {
                    switch descriptor.compare(first, to: second) {
                    case .orderedAscending: return true
                    case .orderedDescending: return false
                    case .orderedSame: continue
                    }
                }
                return false
            }
            #expect(sorted.map(\.title) == titles)
        }
    }

    @Test("an order by a comparator is one of objects in memory, and an error in a fetch")
    func comparators() throws {
        let context = try Library.filled()
        let byLength = NSSortDescriptor(key: "title", ascending: true) { first, second in
            let (first, second) = ("\(first)".count, "\(second)".count)
            return first < second
                ? .orderedAscending : first > second ? .orderedDescending : .orderedSame
        }
        let (fox, emil) = (try context.article("fox"), try context.article("Emil"))
        #expect(byLength.compare(fox, to: emil) == .orderedAscending)
        let reversed = try #require(byLength.reversedSortDescriptor as? NSSortDescriptor)
        #expect(reversed.compare(fox, to: emil) == .orderedDescending)
        #expect(throws: NSError.self) { try context.titles(nil, [byLength]) }
        #expect(throws: NSError.self) {
            try context.titles(nil, [NSSortDescriptor(key: "a b", ascending: true)])
        }
        #expect(throws: NSError.self) {
            try context.titles(nil, [NSSortDescriptor(key: "titel", ascending: true)])
        }
        let plain = NSSortDescriptor(key: "title", ascending: true)
        #expect(plain == NSSortDescriptor(key: "title", ascending: true))
        #expect(plain != plain.reversedSortDescriptor as? NSSortDescriptor)
        #expect(plain.compare(fox, to: emil) == plain.comparator("fox", "Emil"))
    }
}
