import LarderModel
import LarderQuery
import TestSupport
import Testing

@Suite("The window of an observed fetch")
struct LiveWindowTests {
    /// An object of the model: its key and its sort value.
    private struct Model {
        var values: [Int64: Int64] = [:]

        func entries(limit: Int? = nil) -> [LiveWindow.Entry] {
            let sorted = values.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
            return sorted.prefix(limit ?? .max).map { LiveWindow.Entry($0.key, [.int($0.value)]) }
        }
    }

    /// Applies a change as a client does.
    private func applied(_ change: LiveWindow.Change, to rows: [Int64]) -> [Int64] {
        let removed = Set(change.deleted + change.placed.compactMap(\.oldIndex))
        var rows = rows.enumerated().filter { !removed.contains($0.offset) }.map(\.element)
        for placement in change.placed { rows.insert(placement.key, at: placement.newIndex) }
        return rows
    }

    @Test(
        "the window of an observed fetch has the selected objects, and reports each change",
        arguments: [nil, 0, 1, 3, 20])
    func random(limit: Int?) {
        var choice = SeededGenerator.fromEnvironment("the window of an observed fetch")
        for _ in 0..<60 {
            var model = Model()
            for key in 1...Int64.random(in: 1...60, using: &choice) {
                model.values[key] = .random(in: 0...9, using: &choice)
            }
            var window = LiveWindow([SortDirection(SortKey("s"))], limit: limit)
            window.replace(with: model.entries(limit: window.readCount))
            var rows = window.keys
            var nextKey: Int64 = 100
            for _ in 0..<60 {
                var evaluated: Set<Int64> = []
                for _ in 0..<Int.random(in: 1...6, using: &choice) {
                    let known = model.values.keys.sorted().randomElement(using: &choice)
                    switch Int.random(in: 0...4, using: &choice) {
                    case 0:
                        model.values[nextKey] = .random(in: 0...9, using: &choice)
                        evaluated.insert(nextKey)
                        nextKey += 1
                    case 1, 2:
                        guard let known else { continue }
                        model.values[known] = nil
                        evaluated.insert(known)
                    default:
                        guard let known else { continue }
                        if Bool.random(using: &choice) {
                            model.values[known] = .random(in: 0...9, using: &choice)
                        }
                        evaluated.insert(known)
                    }
                }
                let matching = model.entries().filter { evaluated.contains($0.key) }
                let change: LiveWindow.Change
                switch window.apply(evaluated, matching: matching) {
                case .change(let found): change = found
                case .needsReading:
                    change = window.change(to: model.entries(limit: window.readCount))
                }
                let expected = model.entries(limit: limit).map(\.key)
                #expect(window.keys == expected)
                #expect(applied(change, to: rows) == expected)
                // Each evaluated row that is still observed is reported.
                let placed = Set(change.placed.map(\.key))
                #expect(placed.isSuperset(of: evaluated.intersection(expected)))
                for placement in change.placed {
                    if let oldIndex = placement.oldIndex {
                        #expect(rows[oldIndex] == placement.key)
                    }
                }
                rows = expected
            }
        }
    }

    @Test(
        "a live window follows changes with any limit, up to the greatest number",
        arguments: [
            Int.max, 1 << 62, 6_200_000_000_000_000_000, LiveWindow.rowsMax + 1, LiveWindow.rowsMax,
        ])
    func extremeLimits(limit: Int) {
        var window = LiveWindow([SortDirection(SortKey("s"))], limit: limit)
        #expect(window.readCount ?? .max > LiveWindow.rowsMax)
        window.replace(with: [.init(1, [.int(10)])])
        _ = window.apply([2], matching: [.init(2, [.int(5)])])
        _ = window.apply([3], matching: [.init(3, [.int(20)])])
        #expect(window.keys == [2, 1, 3] && window.count == 3)
        let deletion = window.apply([1], matching: [])
        #expect(deletion == .change(LiveWindow.Change(deleted: [1])))
    }

    @Test("the window of an observed fetch distinguishes a moved row from a changed one")
    func moves() {
        var window = LiveWindow([SortDirection(SortKey("s"))], limit: nil)
        window.replace(with: (1...4).map { LiveWindow.Entry($0, [.int($0 * 10)]) })
        let stays = window.apply([2], matching: [LiveWindow.Entry(2, [.int(25)])])
        #expect(
            stays
                == .change(
                    LiveWindow.Change(
                        placed: [.init(2, from: 1, to: 1, isMoved: false)])))
        let moves = window.apply([2], matching: [LiveWindow.Entry(2, [.int(35)])])
        #expect(
            moves
                == .change(
                    LiveWindow.Change(placed: [.init(2, from: 1, to: 2, isMoved: true)])))
        let ends = window.apply([1, 3], matching: [LiveWindow.Entry(3, [.int(30)])])
        #expect(
            ends
                == .change(
                    LiveWindow.Change(
                        deleted: [0], placed: [.init(3, from: 1, to: 0, isMoved: false)])))
    }

    @Test("the window of an observed fetch has the values of its sort keys, such as sections")
    func values() {
        var window = LiveWindow([SortDirection(SortKey("s"))], limit: nil)
        window.replace(with: [.init(1, [.null]), .init(2, ["a"])])
        _ = window.apply([2, 3], matching: [.init(3, ["b"])])
        #expect(window.values(of: 1) == [.null] && window.values(of: 3) == ["b"])
        #expect(window.values(of: 2) == nil)
    }

    @Test("the window of an observed fetch orders descending keys, nil and strings as a fetch does")
    func directions() {
        let keys = [SortKey("a", descending: true), SortKey("b", stringOrder: .caseInsensitive)]
        var window = LiveWindow(keys.map(SortDirection.init), limit: nil)
        let entries: [LiveWindow.Entry] = [
            .init(1, [.int(1), "b"]), .init(2, [.null, "x"]), .init(3, [.int(2), "z"]),
            .init(4, [.int(1), "A"]),
        ]
        _ = window.apply([1, 2, 3, 4], matching: entries)
        #expect(window.keys == [3, 4, 1, 2])
    }
}
