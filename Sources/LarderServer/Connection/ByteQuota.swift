import LarderModel

/// The bytes of one connection that wait, charged to its user: replies that the client does not
/// read, writes that are not stored yet, and incomplete frames.
///
/// Small amounts are not charged, since most connections never have more: replies while the socket
/// is writable, and incomplete frames of up to ``unchargedInputBytesMax``. There is one per
/// connection, used on its event loop.
final class ByteQuota {
    static let userExceeded = LarderError(
        .resourceExhausted, "too many bytes of this user are waiting",
        hint: "read the replies that are waiting, or send fewer writes at once")

    static let unchargedInputBytesMax = 64 << 10

    private let limits: ServerLimits
    /// Adds a number of bytes to the user's total, or subtracts it if negative. Returns false if
    /// the total is above its maximum.
    private let charge: (Int) -> Bool
    private var output = 0
    private var input = 0
    private var writes = 0

    init(limits: ServerLimits, charge: @escaping (Int) -> Bool) {
        self.limits = limits
        self.charge = charge
    }

    var total: Int { output + input + writes }

    /// Whether the waiting replies are above the soft maximum, which is allowed for a limited time.
    var isOutputAboveSoftMax: Bool { output > limits.queuedBytesSoftMax }

    /// - Parameter bytes: The replies that the socket has not taken; 0 while it is writable.
    /// - Returns: why the connection must be closed; nil if the bytes are allowed.
    func setOutput(_ bytes: Int) -> LarderError? {
        let change = bytes - output
        guard change != 0 else { return nil }
        output = bytes
        let isWithinUser = charge(change)
        if change > 0, !isWithinUser { return Self.userExceeded }
        guard bytes > limits.queuedBytesMax else { return nil }
        return LarderError(
            .resourceExhausted, "more than \(limits.queuedBytesMax) bytes of replies are waiting",
            hint: "read the replies while sending requests")
    }

    /// - Parameter bytes: The bytes that are no whole frame yet.
    /// - Returns: why the connection must be closed; nil if the bytes are allowed.
    func setInput(_ bytes: Int) -> LarderError? {
        let charged = bytes > Self.unchargedInputBytesMax ? bytes : 0
        let change = charged - input
        guard change != 0 else { return nil }
        input = charged
        return charge(change) || change < 0 ? nil : Self.userExceeded
    }

    /// A write begins to wait.
    ///
    /// - Returns: false, with nothing charged, if the user has too many bytes waiting.
    func addWrite(_ bytes: Int) -> Bool {
        guard charge(bytes) else {
            _ = charge(-bytes)
            return false
        }
        writes += bytes
        return true
    }

    /// A write no longer waits.
    func removeWrite(_ bytes: Int) {
        writes -= bytes
        _ = charge(-bytes)
    }
}
