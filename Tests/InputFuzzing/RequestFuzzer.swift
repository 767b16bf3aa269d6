import FoundationEssentials
import Glibc
import LarderModel
import LarderServer
import LarderStore
import LarderWire
import Logging
import TestSupport

/// Sends random requests of every kind over several connections to a server that lives on, some
/// with changed bytes or numbers, while another connection saves.
///
/// After each round, the other connection's save must have a reply, and each reply must be one that
/// a client can decode. A trap ends the process.
public final class RequestFuzzer {
    public struct Account {
        public var requestCount = 0
        public var replyCount = 0
        /// Replies that are no errors.
        public var successCount = 0
        public var saveCount = 0
        public var closedCount = 0
        /// How often a new store was made, because a migration had removed the sample's entities.
        public var storeCount = 0
    }

    public struct Fault: Error, CustomStringConvertible {
        public let description: String
    }

    public private(set) var account = Account()
    private var requests: RandomRequests
    private let folder: String
    private var server: Server?
    private var connections: [RawConnection] = []
    /// The connection that saves.
    private var writer: RawConnection?
    private var roundCount = 0

    private static let connectionsMax = 4
    private static let requestsPerRound = 12
    /// A connection is replaced after this number of requests, because streams that nobody ends
    /// occupy it.
    private static let requestsPerConnection = 240
    /// Rounds between two deletions of what the requests have inserted.
    private static let cleaningInterval = 40

    public init(_ generator: SeededGenerator) throws {
        requests = RandomRequests(generator)
        folder = "\(FileManager.default.temporaryDirectory.path)/larder-fuzz-\(UUID().uuidString)"
        try start()
    }

    deinit {
        // A server waits for its connections before it stops.
        connections = []
        writer = nil
        server?.stopAndWait()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Serves a new store.
    private func start() throws {
        connections = []
        writer = nil
        server?.stopAndWait()
        server = nil
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        try StoreSample.create(at: "\(folder)/store")
        let store = try Store.open(path: "\(folder)/store", schema: nil)
        requests.store = store.storeDescription.identifier
        requests.epoch = store.storeDescription.historyEpoch
        var options = Server.Options(name: "fuzzed")
        options.spoolFolder = folder
        options.limits.migrationTimeMax = .seconds(5)
        options.limits.liveObjectsMax = 1_000
        server = try Server(
            backend: store, options: options,
            logger: Logger(label: "fuzzed") { _ in SwiftLogNoOpLogHandler() })
        account.storeCount += 1
    }

    /// Sends requests until there were at least so many.
    ///
    /// - Throws: ``Fault``.
    public func run(_ count: Int) throws {
        while account.requestCount < count {
            for _ in 0..<Self.requestsPerRound { try sendOne() }
            try save()
            try receiveAll()
            roundCount += 1
        }
    }

    private func connect() throws -> RawConnection {
        guard let server else { throw Fault(description: "there is no server") }
        let connection = try RawConnection(to: server)
        let hello = Hello(clientName: "fuzzer")
        try connection.send(RequestEnvelope(id: connection.nextID(), request: .hello(hello)))
        return connection
    }

    // MARK: Requests

    private func sendOne() throws {
        if connections.count < Self.connectionsMax { connections.append(try connect()) }
        guard let connection = connections.randomElement(using: &requests.generator) else { return }
        account.requestCount += 1
        let envelope: RequestEnvelope
        do throws(LarderError) {
            envelope = try requests.envelope(connection.nextID(), open: connection.sentIDs)
        } catch {
            // Such as a query with too many arguments, which a client refuses.
            return
        }
        do {
            try connection.send(envelope) { changed($0) }
        } catch is LarderError {}
    }

    /// Half of the frames are sent as they are.
    private func changed(_ frame: [UInt8]) -> [UInt8] {
        let content = Array(frame.dropFirst(Frame.lengthBytes))
        switch Int.random(in: 0..<16, using: &requests.generator) {
        case 0..<8: return frame
        case 8:
            return Self.frame(Fuzzing.mutated(content, donor: content, using: &requests.generator))
        case 9: return Fuzzing.mutated(frame, donor: frame, using: &requests.generator)
        default:
            guard var message = MessageMutation(content) else { return frame }
            message.mutate(using: &requests.generator)
            return Self.frame(message.bytes)
        }
    }

    private static func frame(_ content: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt32(content.count).bigEndian, Array.init) + content
    }

    private func receiveAll() throws {
        for connection in connections {
            do {
                let replies = try connection.received()
                account.replyCount += replies.count
                account.successCount += replies.count {
                    if case .failed = $0.reply { false } else { true }
                }
            } catch {
                throw Fault(description: "the server has sent what is no reply: \(error)")
            }
        }
        account.closedCount += connections.count(where: \.isClosed)
        connections.removeAll { $0.isClosed || $0.sentCount > Self.requestsPerConnection }
    }

    // MARK: Saves of another client

    private var saves: [ChangeSet] {
        let tag = PersistentIdentifier(temporary: "t", entityName: "Tag")
        let item = PersistentIdentifier(temporary: "i", entityName: "Item")
        var saves = [
            ChangeSet([
                .insert(tag, values: ["name": "saved"]),
                .insert(
                    item, values: ["title": .string("saved \(roundCount)"), "large": 1]),
            ]),
            ChangeSet([
                .updateAll(
                    ObjectSelection("Item", where: .format("title BEGINSWITH 'saved'")),
                    set: [PropertyAssignment("large", .tree(.constant(.int(2))))])
            ]),
        ]
        if roundCount.isMultiple(of: Self.cleaningInterval) {
            let added = "title BEGINSWITH 'saved' OR title BEGINSWITH 'random'"
            saves.append(
                ChangeSet([
                    .deleteAll(ObjectSelection("Item", where: .format(added))),
                    .deleteAll(ObjectSelection("Tag", where: .format("name == 'saved'"))),
                ]))
        }
        return saves
    }

    private func save() throws {
        for set in saves { try save(set) }
        guard roundCount.isMultiple(of: Self.cleaningInterval) else { return }
        _ = try writer?.reply(to: .deleteHistory(.keeping(200)))
    }

    /// Saves, over a new connection if a migration has ended the last one.
    private func save(_ set: ChangeSet) throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < deadline {
            do {
                let writer = try self.writer ?? connect()
                self.writer = writer
                switch try writer.reply(to: .save(set)) {
                case .saved:
                    account.saveCount += 1
                    return
                case .failed(let error) where error.code == .unavailable: break
                // A changed request may have used the same title.
                case .failed(let error) where error.code == .uniquenessViolated: return
                case .failed(let error) where Self.sampleIsGone(error): return try start()
                case .failed(let error):
                    throw Fault(description: "a save of another client fails: \(error)")
                case nil: break
                case let reply?:
                    throw Fault(description: "a save has the reply \(reply)")
                }
            } catch is RawConnection.NoReply {
                throw Fault(description: "a save of another client has no reply")
            }
            // A migration is under way; its session ends with its connection.
            self.writer = nil
            connections = []
            poll(nil, 0, 1)
        }
        throw Fault(description: "no save of another client succeeds")
    }

    /// Whether a changed migration has removed or changed what the saves need.
    private static func sampleIsGone(_ error: LarderError) -> Bool {
        [.unknownEntity, .unknownProperty, .wrongType, .missingValue, .validationFailed]
            .contains(error.code)
    }
}
