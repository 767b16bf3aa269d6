import InputFuzzing
import TestSupport
import Testing

@Suite("Users with random rights")
struct RightsFuzzerTests {
    @Test("requests of every kind show and change only what the rights permit")
    func rights() throws {
        var generator = SeededGenerator.fromEnvironment("rights")
        var account = RightsFuzzer.Account()
        let count = RandomTesting.iterations(40)
        try RightsFuzzer.run(policies: count, &generator, &account)
        #expect(account.policyCount == count)
        // Rights that hide nothing or everything would test little.
        #expect(account.hiddenCount > account.visibleCount / 10, "\(account)")
        #expect(account.visibleCount > account.hiddenCount / 10, "\(account)")
        #expect(account.acceptedWriteCount > account.refusedWriteCount / 20, "\(account)")
        #expect(account.refusedWriteCount > account.acceptedWriteCount / 20, "\(account)")
        #expect(Set(account.kinds.keys) == RightsFuzzer.kindNames)
    }
}
