import LarderModel
import QueryFuzzing
import TestSupport
import Testing

@testable import LarderSQL

/// Compares SQL with the evaluator. `scripts/fuzz-queries` does the same for longer.
@Suite struct QueryPropertyTests {
    @Test("random queries select the same objects in SQL and in memory, in the same order")
    func sameAnswers() throws {
        let casesMin = RandomTesting.iterations(500)
        var fuzzer = try QueryFuzzer(SeededGenerator.fromEnvironment("queries"))
        // A few more cases if a rare feature has not occurred yet.
        while fuzzer.account.caseCount < casesMin
            || (!fuzzer.missing.isEmpty && fuzzer.account.caseCount < 100 * casesMin)
        {
            guard let disagreement = try fuzzer.next() else { continue }
            Issue.record("\(disagreement.minimised())")
            return
        }
        let account = fuzzer.account
        let caseCount = account.caseCount
        #expect(account.selectiveCount > caseCount / 10, "many predicates distinguish objects")
        #expect(account.refusedCount > caseCount / 50, "some are refused, by both")
        #expect(account.refusedCount < caseCount / 4, "most are not")
        #expect(account.undecidedCount < caseCount / 50 + 1, "few depend on the order of rows")
        #expect(fuzzer.missing.isEmpty, "each operator and function was asked for")
    }

    @Test(
        "an error planted into the evaluator is found by random queries",
        arguments: InjectedBug.allCases.shuffled().prefix(RandomTesting.iterations(1)))
    func injectedBugs(_ bug: InjectedBug) throws {
        var fuzzer = try QueryFuzzer(
            SeededGenerator.fromEnvironment("queries with \(bug)"), bug: bug)
        for _ in 0..<20_000 {
            guard let disagreement = try fuzzer.next() else { continue }
            let script = "\(disagreement.minimised())"
            #expect(script.contains("fetch"), "it says what to ask")
            return
        }
        Issue.record("nothing was found in \(fuzzer.account.caseCount) cases")
    }
}
