import LarderModel

/// A request whose reply takes longer than its turn on the event loop.
///
/// It belongs to its connection and to the event loop of that. Whatever runs for it on other
/// threads ends with it: when its client cancels it, when its connection closes, and when a server
/// that stops has waited for it long enough. So the server never works for a client that has gone.
/// Writes that the writer has are no open requests, except those of insert streams: they are
/// executed also if the connection closes.
protocol OpenRequest: AnyObject {
    /// The memory that the request takes, which is returned when it ends.
    var bytes: Int { get }

    /// The client accepts more replies.
    func grant(_ replies: UInt32)

    /// The socket takes replies again.
    func resume()

    /// The client has cancelled the request.
    func cancel()

    /// The client sends nothing more, but still receives.
    func inputEnded()

    /// The connection is to end. A request that would not end soon by itself ends now.
    func connectionDrains(_ reason: LarderError)

    /// Ends with an error, as soon as nothing runs for the request.
    func fail(_ error: LarderError)

    /// Ends without a reply, because the connection closes.
    func abandon()
}

/// The defaults, which suit most requests.
extension OpenRequest {
    var bytes: Int { 0 }
    func grant(_ replies: UInt32) {}
    func resume() {}
    func inputEnded() {}
    func connectionDrains(_ reason: LarderError) {}
}
