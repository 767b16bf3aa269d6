import Glibc
import QueryFuzzing
import TestSupport

/// `scripts/fuzz-queries`: runs the property test of queries for a number of cases or minutes.
///
///     FuzzQueries CASES
///     FuzzQueries --minutes N
@main struct FuzzQueries {
    static func main() throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard let number = words.last.flatMap({ Int($0) }), number > 0,
            words.count == 1 || (words.count == 2 && words[0] == "--minutes")
        else {
            print("usage: scripts/fuzz-queries CASES | --minutes N")
            exit(64)
        }
        let start = ContinuousClock.now
        let isTimed = words.count == 2
        var fuzzer = try QueryFuzzer(SeededGenerator.fromEnvironment("queries"))
        while isTimed
            ? ContinuousClock.now - start < .seconds(number * 60)
            : fuzzer.account.caseCount < number
        {
            if let disagreement = try fuzzer.next() {
                report(fuzzer.account, since: start)
                print(disagreement.minimised())
                exit(1)
            }
            if fuzzer.account.caseCount.isMultiple(of: 100_000) {
                report(fuzzer.account, since: start)
            }
        }
        report(fuzzer.account, since: start)
        let rarest = fuzzer.rarest.prefix(5).map { "\($0.name) \($0.count)" }
        print("least covered: \(rarest.joined(separator: ", "))")
    }

    private static func report(
        _ account: QueryFuzzer.Account, since start: ContinuousClock.Instant
    ) {
        let seconds = (ContinuousClock.now - start).components.seconds
        let rate = account.caseCount / Int(max(1, seconds))
        print(
            "\(account.caseCount) cases in \(seconds) s, \(rate) per second; "
                + "\(account.selectiveCount) select some of the objects, "
                + "\(account.refusedCount) are rejected, \(account.undecidedCount) undecided")
        fflush(nil)
    }
}
