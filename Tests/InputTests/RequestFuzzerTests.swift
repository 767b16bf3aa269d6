import InputFuzzing
import TestSupport
import Testing

@Suite("Requests with any numbers")
struct RequestFuzzerTests {
    @Test("a server that gets them continues, and other clients save in between")
    func requests() throws {
        let count = RandomTesting.iterations(2_000)
        let fuzzer = try RequestFuzzer(SeededGenerator.fromEnvironment("requests"))
        try fuzzer.run(count)
        let account = fuzzer.account
        #expect(account.saveCount > count / 10)
        // Many requests are accepted, and not all.
        #expect(account.successCount > account.replyCount / 20, "\(account)")
        #expect(account.successCount < account.replyCount, "\(account)")
        // A changed migration rarely removes what the saves need.
        #expect(account.storeCount <= 2 + count / 300, "\(account)")
    }
}
