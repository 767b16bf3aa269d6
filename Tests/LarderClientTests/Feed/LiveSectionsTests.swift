import LarderModel
import LarderQuery
import LarderWire
import TestSupport
import Testing

@testable import LarderClient

@Suite("The sections of observed rows")
struct LiveSectionsTests {
    private typealias Section = LiveResult.Section

    private static let ascending = SortDirection(SortKey("section"))

    /// A column with these sections, which are strings or nil.
    private static func batch(_ sections: [String?]) throws -> Batch {
        var column = Column(name: "section", kind: .attribute(.string))
        for section in sections { try column.append(section.map { .string($0) } ?? .null) }
        return Batch(rowCount: sections.count, columns: [column])
    }

    private static func whole(_ sections: [String?], from first: Int64 = 1) throws -> ObserveReply {
        let keys = first..<first + Int64(sections.count)
        return ObserveReply(
            .items(keys), sections: try batch(sections), at: .sample(1), begins: true, ends: true)
    }

    /// Rows with the keys 1, 2, … in these sections.
    private static func rows(_ sections: [String?]) throws -> LiveRows {
        var rows = LiveRows(sectionOrder: ascending)
        _ = try rows.apply(whole(sections))
        return rows
    }

    private static func change(
        _ keys: [Int64] = [], _ sections: [String?]? = nil, new: [UInt32] = [], old: [UInt32] = [],
        deleted: [UInt32] = []
    ) throws -> ObserveReply {
        ObserveReply(
            keys.isEmpty ? nil : .items(keys), sections: try sections.map(batch), at: .sample(2),
            newIndexes: new, oldIndexes: old, moved: keys.map { _ in true }, deleted: deleted)
    }

    // MARK: - Results

    @Test("successive live rows with the same value are a section, also with nil")
    func division() throws {
        var rows = LiveRows(sectionOrder: Self.ascending)
        let result = try #require(try rows.apply(Self.whole([nil, nil, "a", "b", "b", "b"])))
        #expect(
            result.sections == [Section(.null, 0..<2), Section("a", 2..<3), Section("b", 3..<6)])
        #expect(result.sections.map(\.count) == [2, 1, 3])
        #expect(result.insertedSections == [0, 1, 2] && result.deletedSections == [])
    }

    @Test("a section may begin in one part of a whole result and end in the next one")
    func parts() throws {
        var rows = LiveRows(sectionOrder: Self.ascending)
        let first = ObserveReply(
            .items([1, 2]), sections: try Self.batch(["a", "b"]), at: .sample(1), begins: true)
        let last = ObserveReply(
            .items([3]), sections: try Self.batch(["b"]), at: .sample(1), ends: true)
        #expect(try rows.apply(first) == nil)
        #expect(
            try rows.apply(last)?.sections == [Section("a", 0..<1), Section("b", 1..<3)])
    }

    @Test("a live result without rows has no sections")
    func empty() throws {
        var rows = LiveRows(sectionOrder: Self.ascending)
        let none = ObserveReply(nil, at: .sample(1), begins: true, ends: true)
        #expect(try rows.apply(none)?.sections == [])
        #expect(try rows.apply(Self.whole([]))?.sections == [])
        var full = try Self.rows(["a", "b"])
        let result = try full.apply(Self.change(deleted: [0, 1]))
        #expect(result?.sections == [] && result?.deletedSections == [0, 1])
    }

    @Test("a fetch that is observed without sections has none, whatever the server sends")
    func unwanted() throws {
        var rows = LiveRows()
        #expect(try rows.apply(Self.whole(["a", "b"]))?.sections == [])
    }

    @Test("a change of live rows inserts sections with their first row, and deletes empty ones")
    func change() throws {
        var rows = try Self.rows([nil, "b", "b", "d"])
        // The first row moves from nil to "c", and a row of "a" is inserted.
        let change = try Self.change([9, 1], ["a", "c"], new: [0, 3], old: [0, 1])
        let result = try #require(try rows.apply(change))
        #expect(
            result.sections == [
                Section("a", 0..<1), Section("b", 1..<3), Section("c", 3..<4), Section("d", 4..<5),
            ])
        #expect(result.insertedSections == [0, 2] && result.deletedSections == [0])
        // Only the sections of the last result count for the next change.
        let next = try #require(try rows.apply(Self.change(deleted: [0, 4])))
        #expect(next.sections == [Section("b", 0..<2), Section("c", 2..<3)])
        #expect(next.insertedSections == [] && next.deletedSections == [0, 3])
    }

    @Test("a live row that changes its section but not its index is updated")
    func renamed() throws {
        var rows = try Self.rows(["a", "c"])
        let change = ObserveReply(
            .items([2]), sections: try Self.batch(["b"]), at: .sample(2), newIndexes: [1],
            oldIndexes: [2], moved: [false])
        let result = try #require(try rows.apply(change))
        #expect(result.updated == [.init(from: 1, to: 1)])
        #expect(result.sections.map(\.value) == ["a", "b"])
        #expect(result.insertedSections == [1] && result.deletedSections == [1])
        // A whole result counts as a change too, although the row has the same values.
        let again = try #require(try rows.apply(Self.whole(["a", "d"])))
        #expect(again.updated == [.init(from: 1, to: 1)])
        #expect(again.insertedSections == [1] && again.deletedSections == [1])
        #expect(try rows.apply(Self.whole(["a", "d"]))?.isUnchanged == true)
    }

    @Test("sections of live rows are compared in the order of their sort key")
    func descending() throws {
        let order = SortDirection(SortKey("section", descending: true))
        var rows = LiveRows(sectionOrder: order)
        _ = try rows.apply(Self.whole(["c", "b", nil]))
        let result = try #require(try rows.apply(Self.whole(["d", "c", "a", nil], from: 0)))
        #expect(result.sections.map(\.value) == ["d", "c", "a", .null])
        #expect(result.insertedSections == [0, 2] && result.deletedSections == [1])
    }

    @Test("two strings are one section only if their Unicode scalars are equal")
    func scalars() throws {
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        let sections = try [Section](of: [.string(decomposed), .string(composed)], Self.ascending)
        #expect(sections.map(\.count) == [1, 1])
        #expect(try [Section](of: [0.0, -0.0], Self.ascending).map(\.count) == [2])
    }

    // MARK: - Errors

    @Test("sections that do not fit the live rows are errors, and leave the result unchanged")
    func inconsistent() throws {
        let twoColumns = try Self.batch(["a"])
        var noColumns = twoColumns
        noColumns.columns = []
        let one = { (sections: Batch?) in
            ObserveReply(
                .items([9]), sections: sections, at: .sample(2), newIndexes: [0], oldIndexes: [0],
                moved: [false])
        }
        let cases: [(ObserveReply, String)] = [
            (one(nil), "no sections"),
            (one(try Self.batch([])), "a section too few"),
            (one(try Self.batch(["a", "a"])), "a section too many"),
            (one(noColumns), "no column"),
            (one(try Self.batch(["c"])), "a section in two parts"),
            (try Self.change([9], ["b"], new: [7], old: [0]), "a new index after the end"),
            (try Self.whole(["a", "b", "a"]), "a whole result with a section in two parts"),
            (
                ObserveReply(.items([1]), at: .sample(1), begins: true, ends: true),
                "a whole result without sections"
            ),
        ]
        for (reply, what) in cases {
            var rows = try Self.rows(["b", "b", "c"])
            _ = try rows.apply(Self.change([9], ["a"], new: [0], old: [0]))
            let code = code { _ = try rows.apply(reply) }
            #expect(code == .malformedMessage, "\(what)")
            let after = try #require(try rows.apply(Self.change()), "\(what)")
            #expect(after.sections.map(\.value) == ["a", "b", "c"], "\(what)")
            #expect(after.sections.map(\.count) == [1, 2, 1], "\(what)")
        }
    }

    // MARK: - Random changes

    @Test("the changes of sections turn any sections into any others")
    func random() throws {
        var generator = SeededGenerator.fromEnvironment("sections of live rows")
        for number in 0..<RandomTesting.iterations() {
            let isDescending = Bool.random(using: &generator)
            let key = SortKey("section", descending: isDescending)
            var rows = LiveRows(sectionOrder: SortDirection(key))
            var before: [Value] = []
            for _ in 0..<4 {
                let count = Int.random(in: 0...8, using: &generator)
                var sections = (0..<count).map { _ in
                    ["", "a", "b", "c", "d"].randomElement(using: &generator) ?? ""
                }
                sections.sort(by: isDescending ? (>) : (<))
                let values = sections.map { $0.isEmpty ? nil : $0 }
                let result = try #require(try rows.apply(Self.whole(values)))
                // Each row belongs to the section with its value.
                let ofRows = result.sections.flatMap { section in
                    section.range.map { ($0, section) }
                }
                #expect(ofRows.map(\.0) == Array(values.indices))
                #expect(ofRows.map(\.1.value) == values.map { $0.map { .string($0) } ?? .null })
                let deleted = Set(result.deletedSections)
                var after = before.indices.filter { !deleted.contains($0) }.map { before[$0] }
                for index in result.insertedSections {
                    after.insert(result.sections[index].value, at: index)
                }
                before = result.sections.map(\.value)
                #expect(after == before, "number \(number), seed \(generator.seed)")
                #expect(Set(before).count == before.count)
            }
        }
    }

    @Test("random sections of live rows are applied, or rejected as malformed")
    func damaged() throws {
        var generator = SeededGenerator.fromEnvironment("damaged sections")
        var (accepted, rejected) = (0, 0)
        for _ in 0..<RandomTesting.iterations(2_000) {
            func sections(_ count: Int) -> [String?] {
                (0..<count).map { _ in ["a", "b", nil].randomElement(using: &generator) ?? nil }
            }
            var rows = LiveRows(sectionOrder: Self.ascending)
            let count = Int.random(in: 0...4, using: &generator)
            let missing = Int.random(in: 0...min(1, count), using: &generator)
            let whole = ObserveReply(
                .items(1..<Int64(count) + 1), sections: try Self.batch(sections(count - missing)),
                at: .sample(1), begins: true, ends: true)
            let old = UInt32.random(in: 0...4, using: &generator)
            let change = try Self.change(
                [9], sections(.random(in: 0...2, using: &generator)),
                new: [.random(in: 0...5, using: &generator)], old: [old])
            do throws(LarderError) {
                for reply in [whole, change] {
                    guard let result = try rows.apply(reply) else { continue }
                    accepted += 1
                    #expect(result.sections.reduce(0) { $0 + $1.count } == result.rows.count)
                }
            } catch {
                rejected += 1
                #expect(error.code == .malformedMessage, "seed \(generator.seed)")
            }
        }
        #expect(accepted > 0 && rejected > 0)
    }
}
