import Foundation
import SwiftData
import Testing

@Model
private final class Disk {
    var name: String
    var size: UInt64
    var files: UInt?

    init(_ name: String, size: UInt64, files: UInt? = nil) {
        self.name = name
        self.size = size
        self.files = files
    }
}

@Suite("Predicates over unsigned integers above the greatest signed one")
struct UnsignedPredicateTests {
    private static let middle = UInt64(Int64.max)

    /// The names of the disks that match, which must be the same before and after the save.
    private func matching(_ predicate: Predicate<Disk>) throws -> [String] {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        let context = ModelContext(
            try ModelContainer(for: Disk.self, configurations: configuration))
        context.insert(Disk("none", size: 0))
        context.insert(Disk("signed", size: Self.middle, files: 1))
        context.insert(Disk("above", size: Self.middle + 1, files: UInt.max))
        context.insert(Disk("greatest", size: .max, files: UInt.max - 1))
        let descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.size)])
        let before = try context.fetch(descriptor).map(\.name)
        try context.save()
        #expect(try context.fetch(descriptor).map(\.name) == before)
        return before
    }

    @Test("a predicate compares stored unsigned integers with captured ones of any size")
    func comparisons() throws {
        let (middle, above) = (Self.middle, Self.middle + 1)
        #expect(try matching(#Predicate { $0.size >= above }) == ["above", "greatest"])
        #expect(try matching(#Predicate { $0.size == above }) == ["above"])
        #expect(try matching(#Predicate { $0.size != above }) == ["none", "signed", "greatest"])
        #expect(try matching(#Predicate { $0.size <= middle }) == ["none", "signed"])
        #expect(
            try matching(#Predicate { $0.size > 18_446_744_073_709_551_614 }) == ["greatest"])
    }

    @Test("a predicate compares an optional unsigned integer with a captured one of any size")
    func optional() throws {
        let greatest: UInt? = .max
        #expect(try matching(#Predicate { $0.files == greatest }) == ["above"])
        let next = UInt.max - 1
        #expect(try matching(#Predicate { ($0.files ?? 0) >= next }) == ["above", "greatest"])
    }

    @Test("a captured list and a captured range may have unsigned integers of any size")
    func collections() throws {
        let sizes: [UInt64] = [0, .max]
        #expect(try matching(#Predicate { sizes.contains($0.size) }) == ["none", "greatest"])
        let range = Self.middle...UInt64.max - 1
        #expect(try matching(#Predicate { range.contains($0.size) }) == ["signed", "above"])
    }

    @Test("a predicate computes with stored and captured unsigned integers of any size")
    func arithmetic() throws {
        let greatest = UInt64.max
        #expect(try matching(#Predicate { $0.size + 1 == greatest - 1 }) == [])
        #expect(try matching(#Predicate { $0.size + 0 == greatest }) == ["greatest"])
    }
}
