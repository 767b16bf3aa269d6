import Foundation
import SwiftData
import Testing

@Model
private final class Stamp {
    var number: Int
    var code: UUID
    var label: String

    init(_ number: Int, code: UUID = UUID()) {
        self.number = number
        self.code = code
        label = "stamp \(number)"
    }
}

@Suite("Predicates with captured lists of any length")
struct LongListTests {
    /// The numbers of the stamps that match, which must be the same before and after the save.
    private func matching(
        _ context: ModelContext, _ predicate: Predicate<Stamp>
    ) throws -> [Int] {
        let descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.number)])
        let before = try context.fetch(descriptor).map(\.number)
        let saved = ModelContext(context.container)
        try context.save()
        #expect(try saved.fetch(descriptor).map(\.number) == before)
        #expect(try saved.fetchCount(descriptor) == before.count)
        return before
    }

    private func context() throws -> ModelContext {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        let container = try ModelContainer(for: Stamp.self, configurations: configuration)
        let context = ModelContext(container)
        for number in 0..<100 { context.insert(Stamp(number)) }
        return context
    }

    @Test("a predicate captures a list of 200,000 integers")
    func integers() throws {
        let list = (0..<200_000).map { 3 * $0 - 300_000 }
        #expect(
            try matching(context(), #Predicate { list.contains($0.number) })
                == (0..<100).filter { $0.isMultiple(of: 3) })
    }

    @Test("a predicate captures a set of 100,000 strings, and may be negated")
    func strings() throws {
        let labels = Set((50..<100_050).map { "stamp \($0)" })
        #expect(
            try matching(context(), #Predicate { !labels.contains($0.label) }) == Array(0..<50))
    }

    @Test("a predicate captures a list of 100,000 universally unique identifiers")
    func identifiers() throws {
        let context = try context()
        let known = UUID()
        context.insert(Stamp(1_000, code: known))
        let codes = (0..<100_000).map { _ in UUID() } + [known]
        #expect(try matching(context, #Predicate { codes.contains($0.code) }) == [1_000])
    }

    @Test("a predicate captures 70,000 identifiers of models")
    func models() throws {
        let context = try context()
        try context.save()
        let ids = try context.fetch(FetchDescriptor<Stamp>(sortBy: [SortDescriptor(\.number)]))
            .prefix(7).map(\.persistentModelID)
        let repeated = (0..<70_000).map { ids[$0 % ids.count] }
        #expect(
            try matching(context, #Predicate { repeated.contains($0.persistentModelID) })
                == Array(0..<7))
    }

    @Test("a list of more than a million values is an error that says so")
    func tooLong() throws {
        let list = Array(0...1_000_000)
        let descriptor = FetchDescriptor<Stamp>(predicate: #Predicate { list.contains($0.number) })
        let context = try context()
        let error = #expect(throws: (any Error).self) { try context.fetch(descriptor) }
        #expect("\(try #require(error))".contains("1000000"))
    }
}
