/// The origin of a change set as the server process knows it. The history records it next to the
/// author, which the change set names itself.
public struct ChangeSource: Hashable, Sendable {
    /// The user ID and process ID of the connected peer, as reported by the kernel; nil for changes
    /// that did not arrive over a socket.
    public var userIdentifier: UInt32?
    public var processIdentifier: Int32?
    /// The name that the client gave at the handshake; empty if it gave none.
    public var clientName: String

    package init(
        userIdentifier: UInt32? = nil, processIdentifier: Int32? = nil, clientName: String = ""
    ) {
        self.userIdentifier = userIdentifier
        self.processIdentifier = processIdentifier
        self.clientName = clientName
    }
}
