import FoundationEssentials
import LarderModel
import LarderWire
import Testing

@testable import LarderClient

extension Welcome {
    static let sampleStore = UUID(
        uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    static let sample = Welcome.sample()

    static func sample(
        store: UUID = sampleStore, fingerprint: String = "0123456789abcdef",
        frameBytesMax: UInt32 = UInt32(Limits.frameBytesMax), capabilities: [String] = []
    ) -> Welcome {
        Welcome(
            serverName: "scripted", storeIdentifier: store, schemaVersion: "1.0.0",
            schemaFingerprint: fingerprint, isReadOnly: false, capabilities: capabilities,
            frameBytesMax: frameBytesMax, requestsInFlightMax: 32)
    }
}

extension Batch {
    /// Objects with these keys, each with its key as the value of `number`.
    static func items(_ keys: some Sequence<Int64>) -> Batch {
        let keys = Array(keys)
        return Batch(
            rowCount: keys.count,
            identity: Identity(
                entityName: "Item", keys: keys, versions: keys.map { _ in 1 }),
            columns: [Column(name: "number", kind: .attribute(.int64), storage: .integers(keys))])
    }

    /// The result of a count.
    static func total(_ number: Int64) -> Batch {
        Batch(
            rowCount: 1,
            columns: [Column(name: "count", kind: .attribute(.int64), storage: .integers([number]))]
        )
    }

    var numbers: [Int64] {
        if case .integers(let values)? = columns.first?.storage { values } else { [] }
    }
}

extension PersistentIdentifier {
    static func item(_ key: Int64) -> PersistentIdentifier {
        PersistentIdentifier(store: Welcome.sampleStore, entityName: "Item", key: key)
    }
}

extension StoreClient.Options {
    static func longTimeouts(
        requestTimeout: Duration = .seconds(900), reconnectWait: Duration = .seconds(900)
    ) -> StoreClient.Options {
        var options = StoreClient.Options()
        options.requestTimeout = requestTimeout
        options.connectTimeout = .seconds(900)
        options.reconnectWait = reconnectWait
        return options
    }
}

/// The code of the error that the call throws; nil if it throws none.
func code(of call: () throws -> Void) -> ErrorCode? {
    do {
        try call()
        return nil
    } catch {
        return (error as? LarderError)?.code
    }
}

func asyncCode(of call: () async throws -> Void) async -> ErrorCode? {
    do {
        try await call()
        return nil
    } catch {
        return (error as? LarderError)?.code
    }
}

/// Runs the closure in this number of threads at once, and waits for all of them.
func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) async {
    await withTaskGroup { group in
        for number in 0..<count {
            group.addTask { await inThread { try body(number) } }
        }
    }
}

/// Runs the closure in a new thread, so that it may block.
func inThread(_ body: @escaping @Sendable () throws -> Void) async {
    do {
        try await BackgroundThread.run { () -> Result<Void, LarderError> in
            do { try body() } catch { Issue.record(error) }
            return .success(())
        }
    } catch {
        Issue.record(error)
    }
}

/// An event that one thread waits for and another one reports.
final class Flag: Sendable {
    private let isRaised = Monitor(false)
    private let raised = Condition()

    func raise() {
        isRaised.withLock { $0 = true }
        raised.signal()
    }

    /// Waits up to 15 minutes. A minute may be too short where all tests share two cores.
    func wait() {
        let isRaised = isRaised.wait(for: raised, until: .after(.seconds(900))) {
            $0 ? true : nil
        }
        #expect(isRaised == true, "the event did not happen")
    }
}
