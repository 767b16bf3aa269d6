import FoundationEssentials
import LarderModel
import Testing

@Suite("Numbers from outside whose sum or conversion has no bound")
struct ClampedNumberTests {
    @Test("a sum that exceeds the type is the nearest number")
    func sums() {
        #expect(Int64.max.addingClamped(1) == .max && Int64.max.addingClamped(-1) == .max - 1)
        #expect(Int64.min.addingClamped(-1) == .min && Int64.min.addingClamped(.max) == -1)
        #expect(UInt32.max.addingClamped(1) == .max && (2 as UInt32).addingClamped(3) == 5)
    }

    @Test("a floating-point number loses its fraction, and is the nearest number of the type")
    func conversions() {
        let cases: [(Double, Int64)] = [
            (1.9, 1), (-1.9, -1), (1e300, .max), (-1e300, .min), (.infinity, .max),
            (-.infinity, .min), (.nan, 0), (9.3e18, .max), (-0.0, 0),
        ]
        for (number, expected) in cases {
            #expect(Int64(clamped: number) == expected, "\(number)")
        }
        #expect(UInt32(clamped: -5) == 0 && UInt32(clamped: 1e10) == .max)
    }

    @Test("the changes of a transaction are counted, also if they are more than a number can say")
    func changes() {
        let token = HistoryToken(store: UUID(), epoch: 0, number: 1)
        var transaction = HistoryTransaction(token: token, timestamp: Date())
        transaction.runs = [.init(.inserted, "A", 1...3), .init(.deleted, "A", 5...5)]
        #expect(transaction.changes.count == 4)
        transaction.runs += [.init(.inserted, "B", 1 ... .max), .init(.updated, "B", 1 ... .max)]
        #expect(transaction.changes.count == .max)
        var last = transaction.changes.makeIterator()
        #expect(last.next()?.identifier.permanentKey == 1)
    }

    @Test("the expected time of a migration has no bound on its rows")
    func expectedTime() {
        let step = MigrationSummary.Step("a step", rowCount: .max, isRewriting: true)
        let summary = MigrationSummary(
            changes: [], steps: [step, step], isAdditive: false, byteCount: nil)
        #expect(summary.expectedTime ?? .zero > .seconds(365 * 86_400))
        let few = MigrationSummary.Step("a step", rowCount: 1_000, isRewriting: true)
        let short = MigrationSummary(
            changes: [], steps: [few], isAdditive: false, byteCount: nil)
        #expect(short.expectedTime == .milliseconds(8))
    }
}
