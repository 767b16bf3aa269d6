import LarderModel
import Testing

@testable import LarderServer

@Suite("The quota of waiting bytes")
struct ByteQuotaTests {
    /// The total of a user who may have 1,000 bytes waiting.
    private final class User {
        var bytes = 0

        func charge(_ change: Int) -> Bool {
            bytes += change
            return bytes <= 1_000
        }
    }

    private let user = User()

    private func quota(_ adjust: (inout ServerLimits) -> Void = { _ in }) -> ByteQuota {
        var limits = ServerLimits()
        adjust(&limits)
        return ByteQuota(limits: limits, charge: user.charge)
    }

    @Test("waiting replies are charged by their change, and one byte above the quota is refused")
    func outputOfUser() {
        let quota = quota()
        #expect(quota.setOutput(1_000) == nil)
        #expect(quota.setOutput(1_000) == nil)
        #expect(user.bytes == 1_000)
        #expect(quota.setOutput(1_001) == ByteQuota.userExceeded)
        #expect(quota.setOutput(1_000) == nil)
        #expect(quota.setOutput(0) == nil)
        #expect(user.bytes == 0 && quota.total == 0)
    }

    @Test("fewer waiting replies are allowed even if the user is above the maximum")
    func lessOutput() {
        let quota = quota()
        _ = quota.setOutput(3_000)
        #expect(quota.setOutput(2_000) == nil)
        #expect(quota.setOutput(2_001) == ByteQuota.userExceeded)
    }

    @Test("one byte of waiting replies above the connection's maximum is refused")
    func outputOfConnection() {
        let quota = quota {
            $0.queuedBytesMax = 100
            $0.queuedBytesSoftMax = 50
        }
        #expect(quota.setOutput(50) == nil)
        #expect(!quota.isOutputAboveSoftMax)
        #expect(quota.setOutput(51) == nil)
        #expect(quota.isOutputAboveSoftMax)
        #expect(quota.setOutput(100) == nil)
        let error = quota.setOutput(101)
        #expect(error?.code == .resourceExhausted && error?.message.contains("100") == true)
    }

    @Test("an incomplete frame is charged above the minimum only")
    func input() {
        let quota = quota()
        #expect(quota.setInput(ByteQuota.unchargedInputBytesMax) == nil)
        #expect(user.bytes == 0)
        let bytes = ByteQuota.unchargedInputBytesMax + 1
        #expect(quota.setInput(bytes) == ByteQuota.userExceeded)
        #expect(user.bytes == bytes)
        #expect(quota.setInput(10) == nil)
        #expect(user.bytes == 0)
    }

    @Test("a request above the user's quota of bytes is refused and not charged")
    func requests() {
        let quota = quota()
        #expect(quota.addRequest(600) == nil)
        #expect(quota.addRequest(401) == ByteQuota.userExceeded)
        #expect(user.bytes == 600)
        #expect(quota.addRequest(400) == nil)
        quota.removeRequest(600)
        #expect(user.bytes == 400 && quota.total == 400)
    }

    @Test("a request larger than a user's whole quota is refused with its size")
    func largeRequest() {
        let quota = quota { $0.memory = SharedLimit(2_000, userShare: 0.5) }
        let error = quota.addRequest(1_001)
        #expect(error?.code == .resourceExhausted)
        #expect(error?.message.contains("1001 bytes") == true)
        #expect(user.bytes == 0)
    }

    @Test("a held frame is charged to the quota, and never refused")
    func held() {
        let quota = quota()
        quota.hold(2_000)
        #expect(user.bytes == 2_000 && quota.total == 2_000)
        #expect(quota.addRequest(1) == ByteQuota.userExceeded)
        quota.hold(0)
        #expect(user.bytes == 0 && quota.total == 0)
    }
}
