import LarderModel
import LarderQuery
import LarderWire
import TestSupport
import Testing

@testable import LarderClient

@Suite("The rows of an observed fetch")
struct LiveRowsTests {
    private typealias Move = LiveResult.Move

    /// Objects with these keys; their `number` is the key by default.
    private static func batch(_ keys: [Int64], numbers: [Int64]? = nil) -> Batch {
        var batch = Batch.items(keys)
        batch.columns = [
            Column(
                name: "number", kind: .attribute(.int64), storage: .integers(numbers ?? keys))
        ]
        return batch
    }

    private static func records(_ keys: [Int64]) -> [Record] {
        batch(keys).records(store: Welcome.sampleStore)
    }

    private static func whole(
        _ keys: [Int64], numbers: [Int64]? = nil, at number: Int64 = 1
    ) -> ObserveReply {
        ObserveReply(
            batch(keys, numbers: numbers), at: .sample(number), begins: true, ends: true)
    }

    /// A change that places rows with new values, of which those in `moved` are moved.
    private static func change(
        _ keys: [Int64] = [], new: [UInt32] = [], old: [UInt32] = [], moved: Set<Int64> = [],
        deleted: [UInt32] = []
    ) -> ObserveReply {
        ObserveReply(
            keys.isEmpty ? nil : batch(keys, numbers: keys.map { $0 + 1_000 }), at: .sample(2),
            newIndexes: new, oldIndexes: old, moved: keys.map(moved.contains), deleted: deleted)
    }

    /// Rows after a whole result with these keys.
    private static func rows(_ keys: [Int64]) throws -> LiveRows {
        var rows = LiveRows()
        _ = try rows.apply(whole(keys))
        return rows
    }

    private func numbers(_ result: LiveResult?) -> [Value?]? {
        result?.rows.map { $0["number"] }
    }

    // MARK: - Whole results

    @Test("a whole live result may come in parts, and is reported with the last one")
    func parts() throws {
        var rows = LiveRows()
        let (first, middle, last) = (
            ObserveReply(Self.batch([1, 2]), at: .sample(1), begins: true),
            ObserveReply(Self.batch([3]), at: .sample(1)),
            ObserveReply(Self.batch([4]), at: .sample(1), ends: true)
        )
        #expect(try rows.apply(first) == nil)
        #expect(try rows.apply(middle) == nil)
        let result = try #require(try rows.apply(last))
        #expect(result.rows == Self.records([1, 2, 3, 4]) && result.inserted == [0, 1, 2, 3])
        #expect(result.position == .sample(1))
        // The connection is lost after the first part, and the next one begins again.
        #expect(try rows.apply(first) == nil)
        let again = try #require(try rows.apply(Self.whole([4, 5])))
        #expect(again.rows == Self.records([4, 5]))
        #expect(again.deleted.map(\.index) == [0, 1, 2] && again.inserted == [1])
    }

    @Test("a live result without rows is a result")
    func empty() throws {
        var rows = LiveRows()
        let result = try rows.apply(
            ObserveReply(nil, at: .sample(1), begins: true, ends: true))
        #expect(result?.rows == [] && result?.isUnchanged == true)
        #expect(try rows.apply(Self.whole([]))?.rows == [])
    }

    @Test("a whole live result that comes again is compared with the current rows")
    func replacement() throws {
        var rows = try Self.rows([1, 2, 3, 4, 5])
        let same = try #require(try rows.apply(Self.whole([1, 2, 3, 4, 5], at: 7)))
        #expect(same.isUnchanged && same.position == .sample(7))
        let next = Self.whole([5, 1, 6, 3, 2], numbers: [5, 1, 6, 33, 2])
        let result = try #require(try rows.apply(next))
        #expect(numbers(result) == [5, 1, 6, 33, 2])
        #expect(result.inserted == [2])
        #expect(result.deleted.map(\.index) == [3])
        #expect(result.deleted.map(\.row) == Self.records([4]))
        #expect(result.moved.map(\.from) == [0, 2, 1] && result.moved.map(\.to) == [1, 3, 4])
        #expect(result.updated.isEmpty)
    }

    @Test("a live row with another version or value is reported as an update")
    func updatedRows() throws {
        var rows = try Self.rows([1, 2, 3])
        var next = Self.whole([1, 2, 3], numbers: [1, 2, 9])
        next.rows?.identity?.versions = [1, 2, 1]
        let updated = try rows.apply(next)?.updated
        #expect(updated == [Move(from: 1, to: 1), Move(from: 2, to: 2)])
    }

    // MARK: - Changes

    @Test("one change of a live result can insert, update, move and delete rows")
    func change() throws {
        var rows = try Self.rows([1, 2, 3, 4, 5])
        // 1 is deleted, 5 becomes the first, 3 changes, 9 is inserted and 8 is the last.
        let change = Self.change(
            [5, 9, 3, 8], new: [0, 1, 3, 5], old: [5, 0, 3, 0], moved: [5], deleted: [0])
        let result = try #require(try rows.apply(change))
        #expect(numbers(result) == [1_005, 1_009, 2, 1_003, 4, 1_008])
        #expect(result.inserted == [1, 5])
        #expect(result.updated == [Move(from: 2, to: 3)])
        #expect(result.moved == [Move(from: 4, to: 0)])
        #expect(result.deleted.map(\.index) == [0])
        #expect(result.deleted.map(\.row) == Self.records([1]))
        #expect(result.position == .sample(2))
        // The next change is relative to this result.
        let next = try rows.apply(Self.change(deleted: [0, 5]))
        #expect(numbers(next) == [1_009, 2, 1_003, 4])
    }

    @Test("the example of a change in docs/protocol.md results in the rows that it shows")
    func example() throws {
        let (a, b, c, d, e): (Int64, Int64, Int64, Int64, Int64) = (1, 2, 3, 4, 5)
        var rows = try Self.rows([a, b, c, d])
        let change = Self.change(
            [c, e, d], new: [0, 2, 3], old: [3, 0, 4], moved: [c], deleted: [1])
        let result = try #require(try rows.apply(change))
        #expect(result.rows.compactMap(\.identifier.permanentKey) == [c, a, e, d])
        #expect(result.deleted.map(\.row) == Self.records([b]))
        #expect(result.moved == [Move(from: 2, to: 0)] && result.inserted == [2])
        #expect(result.updated == [Move(from: 3, to: 3)])
    }

    @Test("a change of one live row that keeps its index replaces the row")
    func replacedRow() throws {
        var rows = try Self.rows([1, 2, 3])
        let result = try rows.apply(Self.change([2], new: [1], old: [2]))
        #expect(numbers(result) == [1, 1_002, 3])
        #expect(result?.updated == [Move(from: 1, to: 1)])
        #expect(result?.inserted == [] && result?.deleted.isEmpty == true)
    }

    @Test("an empty change of a live result has the new position")
    func nothing() throws {
        var rows = try Self.rows([1])
        let result = try rows.apply(Self.change())
        #expect(result?.isUnchanged == true && result?.position == .sample(2))
        #expect(result?.rows == Self.records([1]))
    }

    @Test("inconsistent changes of live rows are errors, and leave the rows unchanged")
    func inconsistent() throws {
        let cases: [(ObserveReply, String)] = [
            (Self.change([9], new: [4], old: [0]), "a new index after the end"),
            (Self.change([9], new: [.max], old: [0]), "the largest new index"),
            (Self.change([9], new: [0], old: [4]), "an old index after the end"),
            (Self.change([9], new: [0], old: [.max]), "the largest old index"),
            (Self.change([3], new: [3], old: [3]), "a row that moves after the end"),
            (Self.change(deleted: [3]), "a deleted index after the end"),
            (Self.change(deleted: [.max]), "the largest deleted index"),
            (Self.change([8, 9], new: [1, 0], old: [0, 0]), "new indexes that descend"),
            (Self.change([8, 9], new: [1, 1], old: [0, 0]), "one new index twice"),
            (Self.change([8, 9], new: [0, 1], old: [2, 2]), "one old index twice"),
            (Self.change(deleted: [1, 1]), "one row deleted twice"),
            (Self.change([8], new: [0], old: [2], deleted: [1]), "a row deleted and updated"),
            (Self.change([8], new: [1], old: [2], deleted: [1]), "the same at one index"),
            (
                Self.change([6, 7, 8, 9], new: [0, 1, 2, 3], old: [1, 2, 3, 4]),
                "more old rows than there are"
            ),
            (ObserveReply(Self.batch([9]), at: .sample(2)), "rows without indexes"),
            (ObserveReply(.total(1), at: .sample(2)), "rows without identifiers"),
        ]
        for (change, what) in cases {
            var rows = try Self.rows([1, 2, 3])
            let code = code { _ = try rows.apply(change) }
            #expect(code == .malformedMessage, "\(what)")
            let after = try #require(try rows.apply(Self.change()), "\(what)")
            #expect(after.rows == Self.records([1, 2, 3]), "\(what)")
        }
    }

    @Test("a whole live result without identifiers is an error")
    func noIdentifiers() {
        var rows = LiveRows()
        let counted = ObserveReply(.total(1), at: .sample(1), begins: true, ends: true)
        #expect(code { _ = try rows.apply(counted) } == .malformedMessage)
    }

    // MARK: - Random changes

    @Test("the changes that a window reports turn any live rows into any others")
    func random() throws {
        var generator = SeededGenerator.fromEnvironment("live rows")
        for number in 0..<RandomTesting.iterations() {
            let isLimited = Bool.random(using: &generator)
            let limit = isLimited ? Int.random(in: 1...6, using: &generator) : nil
            var window = LiveWindow([SortDirection(SortKey("number"))], limit: limit)
            var entries = Self.entries(&generator)
            window.replace(with: entries)
            var rows = try Self.rows(window.keys)
            for _ in 0..<3 {
                let next = Self.entries(&generator)
                let changed = Set(entries).symmetricDifference(next).map(\.key)
                let matching = next.filter { changed.contains($0.key) }
                let change: LiveWindow.Change
                switch window.apply(Set(changed), matching: matching) {
                case .change(let applied): change = applied
                case .needsReading: change = window.change(to: next)
                }
                entries = next
                let result = try #require(try rows.apply(Self.reply(change)))
                let keys = result.rows.compactMap(\.identifier.permanentKey)
                #expect(keys == window.keys, "number \(number), seed \(generator.seed)")
            }
        }
    }

    /// Up to ten entries, in their order.
    private static func entries(_ generator: inout SeededGenerator) -> [LiveWindow.Entry] {
        (1...10).filter { _ in Bool.random(using: &generator) }.map {
            LiveWindow.Entry($0, [.int(.random(in: 0...3, using: &generator))])
        }.sorted { left, right in
            guard case .int(let first) = left.values[0], case .int(let second) = right.values[0]
            else { return false }
            return (first, left.key) < (second, right.key)
        }
    }

    private static func reply(_ change: LiveWindow.Change) -> ObserveReply {
        ObserveReply(
            change.placed.isEmpty ? nil : batch(change.placed.map(\.key)), at: .sample(1),
            newIndexes: change.placed.map { UInt32($0.newIndex) },
            oldIndexes: change.placed.map { $0.oldIndex.map { UInt32($0) + 1 } ?? 0 },
            moved: change.placed.map(\.isMoved), deleted: change.deleted.map { UInt32($0) })
    }

    @Test("random changes of live rows are applied, or rejected as malformed")
    func damaged() throws {
        var generator = SeededGenerator.fromEnvironment("damaged live rows")
        var (accepted, rejected) = (0, 0)
        for _ in 0..<RandomTesting.iterations(2_000) {
            let keys = (0..<Int64.random(in: 0...5, using: &generator)).map { $0 + 1 }
            var rows = try Self.rows(keys)
            func indexes(_ count: Int) -> [UInt32] {
                (0..<count).map { _ in .random(in: 0...6, using: &generator) }
            }
            let count = Int.random(in: 0...3, using: &generator)
            let placed = (0..<Int64(count)).map { $0 + 10 }
            let new = Set(indexes(count)).sorted()
            guard new.count == count else { continue }
            let deleted = indexes(Int.random(in: 0...2, using: &generator))
            let change = Self.change(placed, new: new, old: indexes(count), deleted: deleted)
            do throws(LarderError) {
                guard let result = try rows.apply(change) else { continue }
                accepted += 1
                let identifiers = Set(result.rows.map(\.identifier))
                #expect(identifiers.count == result.rows.count, "seed \(generator.seed)")
                let kept = keys.count - result.deleted.count
                #expect(result.rows.count == kept + result.inserted.count)
            } catch {
                rejected += 1
                #expect(error.code == .malformedMessage)
            }
        }
        #expect(accepted > 0 && rejected > 0)
    }
}
