public import LarderClient
import Synchronization

/// The objects that all pages of one program share.
public final class Browse: Sendable {
    /// Reads and writes for pages.
    let client: StoreClient
    /// Counts, and questions whether the server answers: short time limits.
    let hastyClient: StoreClient
    /// The name of the store in the titles of pages.
    let storeName: String
    let isEditable: Bool
    let access: Access
    let streams = LiveStreams()
    /// The port of the pages; nil on a Unix socket, and until there is one.
    private let servedPort = Mutex<Int?>(nil)

    public init(
        client: StoreClient, hastyClient: StoreClient, storeName: String, isEditable: Bool,
        access: Access
    ) {
        self.client = client
        self.hastyClient = hastyClient
        self.storeName = storeName
        self.isEditable = isEditable && !client.server.isReadOnly
        self.access = access
    }

    public var port: Int? {
        get { servedPort.withLock { $0 } }
        set { servedPort.withLock { $0 = newValue } }
    }

    /// Cookies of one host are sent to all its ports, so their names differ.
    var cookieName: String { "larder-browse-\(port ?? 0)" }

    /// Whether a request for this host is one for these pages. A page of another site may give its
    /// own name the address of this machine.
    func serves(host: String?) -> Bool {
        guard let host else { return false }
        let parts = host.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard ["localhost", "127.0.0.1"].contains(parts[0]) else { return false }
        guard let port else { return true }
        return parts.count == 2 && parts[1] == "\(port)"
    }
}
