import LarderModel

extension ConnectionHandler {
    /// What the connection is doing; nil after it has closed.
    func activity(of number: Int) -> ConnectionActivity? {
        guard let context else { return nil }
        return ConnectionActivity(
            id: Int64(number), source: source, opened: opened, requestCount: Int64(requestCount),
            requestsInFlight: Int64(state.requestsInFlight),
            followerCount: Int64(state.followerCount), memoryByteCount: Int64(quota.total),
            waitingByteCount: Int64(Self.bufferedBytes(of: context.channel)))
    }
}
