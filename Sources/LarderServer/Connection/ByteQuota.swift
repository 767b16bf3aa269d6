import LarderModel

/// The memory of one connection, charged to its user: replies that the client does not read,
/// requests that are not answered yet, and incomplete frames.
///
/// Small amounts are not charged, since most connections never have more: replies while the socket
/// is writable, and incomplete frames of up to ``unchargedInputBytesMax``. There is one per
/// connection, used on its event loop.
final class ByteQuota {
    static let userExceeded = LarderError(
        .resourceExhausted, "too many bytes of this user are waiting",
        hint: "read the replies that are waiting, or send fewer requests at once")

    static let unchargedInputBytesMax = 64 << 10

    private let limits: ServerLimits
    /// Adds a number of bytes to the user's total, or subtracts it if negative. Returns false if
    /// the total is above its maximum.
    private let charge: (Int) -> Bool
    private var output = 0
    private var input = 0
    private var requests = 0
    private var held = 0

    init(limits: ServerLimits, charge: @escaping (Int) -> Bool) {
        self.limits = limits
        self.charge = charge
    }

    var total: Int { output + input + requests + held }

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

    /// Sets the memory of a frame that is being decoded, or of a request that waits until the
    /// connection may have one more in flight. There is at most one, so it is never refused.
    func hold(_ bytes: Int) {
        guard bytes != held else { return }
        _ = charge(bytes - held)
        held = bytes
    }

    /// A request begins to wait, or to run outside of the event loop.
    ///
    /// - Returns: why the request is refused, with nothing charged; nil if it is allowed.
    func addRequest(_ bytes: Int) -> LarderError? {
        guard charge(bytes) else {
            _ = charge(-bytes)
            let alone = UserShares(limits.memory).maximum(for: 0)
            return bytes > alone ? Self.tooLong(bytes, bytesMax: alone) : Self.userExceeded
        }
        requests += bytes
        return nil
    }

    private static func tooLong(_ bytes: Int, bytesMax: Int) -> LarderError {
        LarderError(
            .resourceExhausted,
            "the request takes \(bytes) bytes of memory; those of one user may take \(bytesMax)",
            hint: "divide the request")
    }

    /// A request has ended.
    func removeRequest(_ bytes: Int) {
        requests -= bytes
        _ = charge(-bytes)
    }
}
