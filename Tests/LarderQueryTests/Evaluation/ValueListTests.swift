import FoundationEssentials
import LarderModel
import TestSupport
import Testing

@testable import LarderQuery

@Suite("Lists with which values are compared")
struct ValueListTests {
    private func isEqual(_ left: Value, _ right: Value, _ options: Comparison.Options) -> Bool {
        func folded(_ value: Value) -> Value {
            if case .string(let text) = value { .string(text.folded(options)) } else { value }
        }
        return left.isNull == right.isNull && folded(left).order(to: folded(right)) == 0
    }

    private func value(_ kind: Int, _ random: inout SeededGenerator) -> Value {
        let number = Int64.random(in: -20...20, using: &random)
        return switch kind {
        case 0: .int(number)
        case 1: .double(Double(number) / 2)
        case 2: .decimal(Decimal(number) / 2)
        case 3: .string(["a", "A", "ä", "a\u{308}", "b", ""].randomElement(using: &random) ?? "")
        case 4: .date(Date(timeIntervalSinceReferenceDate: Double(number)))
        case 5: .bool(number > 0)
        default: .null
        }
    }

    @Test("a list contains the values that are equal to one of its own, of one type or several")
    func random() {
        var random = SeededGenerator.fromEnvironment("lists of values")
        for _ in 0..<RandomTesting.iterations() {
            let kinds = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                Int.random(in: 0...6, using: &random)
            }
            let options: Comparison.Options =
                [[], .caseInsensitive, .diacriticInsensitive]
                .randomElement(using: &random) ?? []
            let values = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                value(kinds.randomElement(using: &random) ?? 0, &random)
            }
            let list = ValueList(values, options)
            for _ in 0..<20 {
                let other = value(Int.random(in: 0...6, using: &random), &random)
                let expected = values.contains { isEqual($0, other, options) }
                #expect(list.contains(other) == expected, "\(other) in \(values), \(options)")
            }
        }
    }

    @Test("a list of a million values is searched in logarithmic time")
    func long() {
        let list = ValueList((0..<1_000_000).map { .int(2 * Int64($0)) }, [])
        let found = (0..<Int64(100_000)).filter { list.contains(.int($0)) }
        #expect(found == (0..<50_000).map { 2 * Int64($0) })
    }
}
