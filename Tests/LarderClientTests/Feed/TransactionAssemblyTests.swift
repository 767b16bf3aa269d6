import FoundationEssentials
import LarderModel
import LarderWire
import Testing

@testable import LarderClient

@Suite("Transactions in several replies")
struct TransactionAssemblyTests {
    private func reply(
        _ transactions: [HistoryTransaction], isPartial: Bool = false
    ) -> HistoryReply {
        HistoryReply(transactions, upTo: .sample(9), isPartial: isPartial)
    }

    @Test("transactions that arrive whole are returned unchanged")
    func whole() {
        var assembly = TransactionAssembly()
        let transactions = [HistoryTransaction.sample(1, 1...2), .sample(2, 3...3)]
        #expect(assembly.append(reply(transactions)) == transactions)
        #expect(assembly.append(reply([])).isEmpty)
    }

    @Test("the parts of a transaction are joined when the last one arrives")
    func joined() {
        var assembly = TransactionAssembly()
        var parts = [HistoryTransaction.sample(2, 1...2), .sample(2, 3...4), .sample(2, 9...9)]
        parts[1].tombstones = [HistoryTombstone("Item", 3, ["a": 1])]
        parts[2].tombstones = [HistoryTombstone("Item", 9, [:])]
        let before = HistoryTransaction.sample(1, 1...1)
        let after = HistoryTransaction.sample(3, 1...1)
        #expect(assembly.append(reply([before, parts[0]], isPartial: true)) == [before])
        #expect(assembly.append(reply([parts[1]], isPartial: true)).isEmpty)
        var whole = parts[0]
        whole.runs = parts.flatMap(\.runs)
        whole.tombstones = parts.flatMap(\.tombstones)
        #expect(assembly.append(reply([parts[2], after])) == [whole, after])
    }

    @Test("one reply may end a transaction and begin another one that continues")
    func adjacent() {
        var assembly = TransactionAssembly()
        #expect(assembly.append(reply([.sample(1, 1...1)], isPartial: true)).isEmpty)
        let first = assembly.append(reply([.sample(1, 2...2), .sample(2, 3...3)], isPartial: true))
        #expect(first.map(\.id) == [1])
        #expect(first[0].changes.map(\.identifier.permanentKey) == [1, 2])
        let second = assembly.append(reply([.sample(2, 4...4)]))
        #expect(second.map(\.id) == [2] && second[0].runs.count == 2)
    }

    @Test("a last part without changes completes a transaction")
    func emptyEnd() {
        var assembly = TransactionAssembly()
        let first = HistoryTransaction.sample(1, 1...1)
        #expect(assembly.append(reply([first], isPartial: true)).isEmpty)
        #expect(assembly.append(reply([.sample(1)])) == [first])
    }
}

extension HistoryToken {
    static func sample(_ number: Int64) -> HistoryToken {
        HistoryToken(store: Welcome.sampleStore, epoch: 0, number: number)
    }
}

extension HistoryTransaction {
    static func sample(_ number: Int64, _ keys: ClosedRange<Int64>? = nil) -> HistoryTransaction {
        HistoryTransaction(
            token: .sample(number), timestamp: Date(timeIntervalSinceReferenceDate: 0),
            runs: keys.map { [HistoryRun(.inserted, "Item", $0)] } ?? [])
    }
}
