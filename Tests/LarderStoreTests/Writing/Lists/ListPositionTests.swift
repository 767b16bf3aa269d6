import TestSupport
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("positions in ordered lists")
struct ListPositionTests {
    private let gap = ListPosition.gap

    @Test("new positions at either end of a list are a gap apart")
    func ends() {
        #expect(
            ListPosition.spacing(after: nil, [nil, nil], endsList: true)
                == .positions([0, gap]))
        #expect(
            ListPosition.spacing(after: 5, [nil, nil], endsList: true)
                == .positions([5 + gap, 5 + 2 * gap]))
        #expect(
            ListPosition.spacing(after: nil, [nil, nil, 7], endsList: false)
                == .positions([7 - 2 * gap, 7 - gap]))
    }

    @Test("new positions share the room between two, as long as each gets a number")
    func between() {
        #expect(
            ListPosition.spacing(after: 0, [nil, 100], endsList: false) == .positions([50]))
        #expect(
            ListPosition.spacing(after: 0, [nil, nil, nil, 4], endsList: false)
                == .positions([1, 2, 3]))
        #expect(ListPosition.spacing(after: 0, [nil, nil, 2], endsList: false) == .needsMore)
    }

    @Test("positions move up where there is no room, as few as possible")
    func movingUp() {
        #expect(
            ListPosition.spacing(after: 0, [nil, 1, 2, 30, 31], endsList: false)
                == .positions([7, 15, 22]))
        // Items that are out of order or outside of the range are moved too.
        #expect(
            ListPosition.spacing(after: 9, [nil, 9, .max, 4, 9 + 64], endsList: false)
                == .positions([21, 34, 47, 60]))
        #expect(
            ListPosition.spacing(after: 0, [nil, 1, 2], endsList: true)
                == .positions([gap, 2 * gap, 3 * gap]))
    }

    @Test("positions that reach the end of their range are renumbered")
    func endOfRange() {
        let last = ListPosition.range.upperBound
        #expect(ListPosition.spacing(after: last, [nil], endsList: true) == .noRoom)
        #expect(ListPosition.spacing(after: .max, [nil, .max], endsList: true) == .noRoom)
        #expect(ListPosition.positions(for: [last - 1, last, nil]) == [0, gap, 2 * gap])
        let first = ListPosition.range.lowerBound
        #expect(
            ListPosition.spacing(after: nil, [nil, first + 10], endsList: false)
                == .positions([first + 5]))
        #expect(
            ListPosition.spacing(after: nil, [nil, first, first + 10], endsList: false)
                == .positions([first + 3, first + 6]))
    }

    @Test("a new order of a whole list keeps as many positions as possible")
    func wholeList() {
        #expect(ListPosition.positions(for: [10, 20, 30]) == [10, 20, 30])
        #expect(ListPosition.positions(for: [30, 10, 20]) == [10 - gap, 10, 20])
        #expect(ListPosition.positions(for: [10, nil, 20]) == [10, 15, 20])
        #expect(ListPosition.positions(for: [20, 30, 10]) == [20, 30, 30 + gap])
        #expect(ListPosition.positions(for: []) == [])
    }

    @Test("the positions of random lists ascend, and as many as possible are kept")
    func random() {
        var random = SeededGenerator.fromEnvironment("list positions")
        for _ in 0..<RandomTesting.iterations() {
            let items = (0..<Int.random(in: 0...9, using: &random)).map { _ -> Int64? in
                Bool.random(using: &random) ? nil : Int64.random(in: -6...6, using: &random)
            }
            let positions = ListPosition.positions(for: items)
            #expect(positions.count == items.count)
            #expect(
                zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 },
                "\(items), seed \(random.seed)")
            let ascent = ListPosition.longestAscent(items)
            #expect(zip(ascent, items).allSatisfy { $0 == nil || $0 == $1 })
            let kept = ascent.compactMap(\.self)
            #expect(zip(kept, kept.dropFirst()).allSatisfy { $0 < $1 })
            #expect(kept.count == Self.longestAscentCount(items), "\(items), seed \(random.seed)")
        }
    }

    /// Computed by trying all subsequences.
    private static func longestAscentCount(_ items: [Int64?]) -> Int {
        let numbers = items.compactMap(\.self)
        var longest = 0
        for selection in 0..<(1 << numbers.count) {
            let chosen = numbers.indices.filter { selection >> $0 & 1 == 1 }.map { numbers[$0] }
            if zip(chosen, chosen.dropFirst()).allSatisfy({ $0 < $1 }) {
                longest = max(longest, chosen.count)
            }
        }
        return longest
    }

    /// The index of each insertion, by the length of the list.
    enum Pattern: CaseIterable {
        case beforeOne, afterOne, first, last, anywhere, alternating

        func index(_ step: Int, _ count: Int, _ random: inout SeededGenerator) -> Int {
            switch self {
            case .beforeOne: min(count, 500 + step)
            case .afterOne: 500
            case .first: 0
            case .last: count
            case .anywhere: Int.random(in: 0...count, using: &random)
            case .alternating: 500 + (step + 1) / 2
            }
        }
    }

    @Test("insertions into a list move few other positions on average", arguments: Pattern.allCases)
    func cost(_ pattern: Pattern) throws {
        var random = SeededGenerator.fromEnvironment("list insertions")
        var positions = (0..<1_000).map { Int64($0) * gap }
        var movedCount = 0
        let stepCount = 5_000
        for step in 0..<stepCount {
            let index = pattern.index(step, positions.count, &random)
            let new = try #require(Self.inserted(at: index, in: positions))
            movedCount += new.count - 1
            positions.replaceSubrange(index..<(index + new.count - 1), with: new)
        }
        print("list insertions \(pattern): \(Double(movedCount) / Double(stepCount)) moved")
        #expect(movedCount < 20 * stepCount, "seed \(random.seed)")
        #expect(zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 })
    }

    /// The new positions of an inserted item and of the moved items after it.
    private static func inserted(at index: Int, in positions: [Int64]) -> [Int64]? {
        let left = index == 0 ? nil : positions[index - 1]
        var followersMax = 4
        while true {
            let end = min(index + followersMax, positions.count)
            let items = [nil] + positions[index..<end].map { Optional($0) }
            switch ListPosition.spacing(
                after: left, items, endsList: index + followersMax > positions.count)
            {
            case .positions(let new): return new
            case .needsMore: followersMax *= 2
            case .noRoom: return nil
            }
        }
    }
}
