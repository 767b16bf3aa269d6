import LarderModel
import LarderWire
import Synchronization
import Testing

/// Scripts that several tests use.
extension Peer {
    /// Replies to every request with a suitable result. A stream gets `batchCount` batches of ten
    /// objects, as its credit allows.
    func serve(batchCount: Int64 = 10) throws {
        var streams: [UInt64: ServedStream] = [:]
        while let envelope = receive() {
            switch envelope.request {
            case .query(let query):
                streams[envelope.id] = ServedStream(
                    credit: query.credit == 0 ? .max : Int64(query.credit), batchCount: batchCount)
                try streams[envelope.id]?.advance(envelope.id, self)
            case .credit(let id, let batches):
                streams[id]?.credit += Int64(batches)
                try streams[id]?.advance(id, self)
            case .cancel(let id): streams[id] = nil
            default: try reply(to: envelope)
            }
        }
    }

    /// Replies to a request other than a query with a suitable result.
    func reply(to envelope: RequestEnvelope) throws {
        switch envelope.request {
        case .get(let identifiers, _):
            let keys = identifiers.compactMap(\.permanentKey)
            try reply(envelope.id, .batches([.items(keys)], more: false))
        case .save(let changes):
            try reply(envelope.id, .saved(Peer.result(of: changes)))
        case .explain:
            let explanation = Explanation(plan: "Scan", sql: "SELECT", steps: [], warnings: [])
            try reply(envelope.id, .explained(explanation))
        case .statistics:
            try reply(envelope.id, .statistics([Statistic("objects", 3)]))
        case .ping:
            try reply(envelope.id, .pong)
        default: throw Unexpected(envelope)
        }
    }

    /// Objects get the keys 1, 2 and so on; versions are 2.
    private static func result(of changes: ChangeSet) -> SaveResult {
        var result = SaveResult()
        for change in changes.changes {
            switch change {
            case .insert: result.inserted.append(.item(Int64(result.inserted.count) + 1))
            case .update: result.updatedVersions.append(2)
            case .delete: result.deletedCount += 1
            case .updateAll, .deleteAll: result.affected.append(AffectedObjects(count: 3))
            }
        }
        return result
    }
}

private struct ServedStream {
    var credit: Int64
    let batchCount: Int64
    var sent: Int64 = 0

    mutating func advance(_ id: UInt64, _ peer: Peer) throws {
        while credit > 0, sent < batchCount {
            let batch = Batch.items(sent * 10 + 1...sent * 10 + 10)
            sent += 1
            credit -= 1
            try peer.reply(id, .batches([batch], more: sent < batchCount))
        }
    }
}

/// A list to which threads append.
final class Recorder<Entry: Sendable>: Sendable {
    private let state = Mutex<[Entry]>([])

    var entries: [Entry] { state.withLock { $0 } }

    func append(_ entry: Entry) { state.withLock { $0.append(entry) } }
}
