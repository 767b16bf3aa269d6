import LarderModel
import Testing

@testable import LarderServer

@Suite("The shares of users in a resource")
struct UserSharesTests {
    @Test("a user may take its share of a resource that other users have left, and no more")
    func share() {
        var shares = UserShares(SharedLimit(100, userShare: 0.5))
        let taken = [
            shares.take(50, for: 1), shares.take(1, for: 1), shares.take(25, for: 2),
            shares.take(1, for: 2),
        ]
        #expect(taken == [true, false, true, false])
        #expect(shares.used == 75)
    }

    @Test("every further user gets a part of a resource, down to the last unit")
    func lastUnit() {
        var shares = UserShares(SharedLimit(8, userShare: 0.5))
        for user in 1...4 as ClosedRange<UInt32> {
            while shares.take(1, for: user) {}
        }
        #expect((1...5).map { shares.used(by: $0) } == [4, 2, 1, 1, 0])
        #expect(!shares.allows(1, for: 5))
    }

    @Test("the amount that a user returns is free for all users")
    func giveBack() {
        var shares = UserShares(SharedLimit(4, userShare: 1))
        shares.add(4, to: 1)
        #expect(!shares.allows(1, for: 2))
        shares.add(-4, to: 1)
        #expect(shares.used == 0 && shares.used(by: 1) == 0)
        #expect(shares.allows(4, for: 2))
    }

    @Test("a smaller amount of a resource reduces every user's maximum")
    func total() {
        let shares = UserShares(SharedLimit(100, userShare: 0.5))
        #expect(shares.maximum(for: 1, total: 10) == 5)
        #expect(shares.maximum(for: 1, total: 0) == 0)
    }

    @Test("a user's share of a quarter of 1,024 is exact")
    func exact() {
        let shares = UserShares(SharedLimit(1_024, userShare: 256.0 / 1_024))
        #expect(shares.maximum(for: 1) == 256)
        let third = UserShares(SharedLimit(3, userShare: 1.0 / 3))
        #expect(third.maximum(for: 1) == 1)
    }
}
