import FoundationEssentials
import LarderModel
internal import LarderWire

/// A request whose replies make one result: what is sent, and what each reply adds.
///
/// It knows nothing of waiting, so that the blocking and the asynchronous form of
/// ``Session/run(_:)-(Exchange)`` differ by how they wait alone.
protocol Exchange<Output> {
    associatedtype Output

    func request(by author: String) -> Request
    var kind: RequestTracker.Kind { get }
    var isWrite: Bool { get }
    /// Whether the request may be sent twice, although it is a write.
    var hasKey: Bool { get }
    /// Whether the request changes the store or its history.
    var isChange: Bool { get }

    /// Forgets the replies so far, because the request is sent again.
    mutating func restart()

    /// - Returns: the result with the last reply; nil if another one follows.
    /// - Throws: `malformedMessage` if the reply does not belong to this kind of request.
    mutating func output(
        adding reply: Reply, to request: SentRequest
    ) throws(LarderError) -> Output?
}

/// A request that was sent over a connection.
struct SentRequest: Sendable {
    let connection: Connection
    let id: UInt64
}

extension Exchange {
    var isWrite: Bool { false }
    var hasKey: Bool { false }
    var isChange: Bool { false }
}

/// The batches of a query, as elements that a closure makes of each one.
struct ListExchange<Element>: Exchange {
    /// Makes the elements of one batch, which comes from the store with this identifier.
    typealias Elements = (Batch, UUID) throws(LarderError) -> [Element]

    private let query: QueryRequest
    private let elements: Elements
    private var list: [Element] = []

    init(_ query: QueryRequest, _ elements: @escaping Elements) {
        self.query = query
        self.elements = elements
    }

    func request(by author: String) -> Request { .query(query) }

    /// The server need not wait for credit, because the caller wants all batches.
    var kind: RequestTracker.Kind { .stream(window: 0) }

    mutating func restart() { list = [] }

    mutating func output(
        adding reply: Reply, to request: SentRequest
    ) throws(LarderError) -> [Element]? {
        guard case .encodedBatches(let rows, let more) = reply else { throw .unexpectedReply }
        let store = request.connection.welcome.storeIdentifier
        for batch in try rows.batches() { list += try elements(batch, store) }
        return more ? nil : list
    }
}

/// Pages of the history.
struct HistoryExchange: Exchange {
    private let history: HistoryRequest
    private var transactions: [HistoryTransaction] = []
    private var assembly = TransactionAssembly()

    init(_ fetch: HistoryFetch, _ objects: [HistoryObjects]) throws(LarderError) {
        history = HistoryRequest(fetch, objects: try objects.requests())
    }

    func request(by author: String) -> Request { .history(history) }

    var kind: RequestTracker.Kind { .stream(window: 0) }

    mutating func restart() { (transactions, assembly) = ([], TransactionAssembly()) }

    mutating func output(
        adding reply: Reply, to request: SentRequest
    ) throws(LarderError) -> History? {
        guard case .history(let page, let more) = reply else { throw .unexpectedReply }
        transactions += assembly.append(page)
        return more ? nil : History(transactions, position: page.position)
    }
}

/// A snapshot, which stays open after its reply.
struct SnapshotExchange: Exchange {
    func request(by author: String) -> Request { .openSnapshot }

    var kind: RequestTracker.Kind { .session }

    mutating func restart() {}

    mutating func output(
        adding reply: Reply, to request: SentRequest
    ) throws(LarderError) -> PinnedSnapshot? {
        guard case .snapshotOpened(let position) = reply else { throw .unexpectedReply }
        return PinnedSnapshot(
            connection: request.connection, id: request.id, position: position)
    }
}
