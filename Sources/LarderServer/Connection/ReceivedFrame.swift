import LarderModel
import LarderWire

/// A decoded frame, with its length, its memory and the digest of its change set.
struct ReceivedFrame: Sendable {
    struct Summary: Sendable {
        var byteCount = 0
        /// Roughly the memory that the decoded request takes.
        var memoryBytes = 0
        /// The digest of a change set that has an idempotency key.
        var digest: UInt64 = 0
    }

    let event: ConnectionState.Event
    private(set) var summary = Summary()

    init(decoding frame: RawSpan, _ codec: WireCodec) {
        event = Self.decode(frame, codec, &summary)
    }

    /// The event of a frame by itself, because taking it out of a struct would copy the request.
    static func decode(
        _ frame: RawSpan, _ codec: WireCodec, _ summary: inout Summary
    ) -> ConnectionState.Event {
        summary = Summary(byteCount: frame.byteCount)
        do throws(WireFailure) {
            let envelope = try codec.decodeRequest(frame)
            summary.memoryBytes = envelope.request.memoryBytes + frame.byteCount
            if case .save(let changes) = envelope.request, !changes.idempotencyKey.isEmpty {
                summary.digest = try codec.changeSetDigest(frame)
            }
            return .received(envelope)
        } catch {
            return .undecodable(error)
        }
    }
}

extension Request {
    /// Roughly the memory that the request takes besides the bytes of its values.
    fileprivate var memoryBytes: Int {
        let fixed = 1 << 10
        switch self {
        case .save(let changes): return changes.changes.reduce(fixed) { $0 + $1.memoryBytes }
        case .get(let identifiers, _):
            return fixed + identifiers.count * MemoryLayout<PersistentIdentifier>.stride
        case .observe(let request): return Request.query(request.query).memoryBytes
        case .query(let query), .explain(let query), .analyze(let query):
            let parameters = query.parameters
            let arguments = parameters.arguments.reduce(0) { $0 + $1.memoryBytes }
            return parameters.variables.values.reduce(fixed + arguments) { $0 + $1.memoryBytes }
        default: return fixed
        }
    }
}

extension QueryArgument {
    fileprivate var memoryBytes: Int {
        let count = if case .list(let values) = self { values.count } else { 1 }
        return count * MemoryLayout<Value>.stride
    }
}

extension Change {
    fileprivate var memoryBytes: Int {
        var bytes = MemoryLayout<Change>.stride
        switch self {
        case .insert(_, let values, let edits):
            bytes += Self.memoryBytes(values) + Self.memoryBytes(edits)
        case .update(_, _, let values, let base, let edits):
            bytes += Self.memoryBytes(values) + Self.memoryBytes(base) + Self.memoryBytes(edits)
        case .delete: break
        case .updateAll, .deleteAll: bytes += 1 << 10
        }
        return bytes
    }

    /// The memory of a dictionary: its header, and slots of which it fills half or more.
    private static func memoryBytes(_ values: [String: Value]) -> Int {
        guard !values.isEmpty else { return 0 }
        let slot = MemoryLayout<String>.stride + MemoryLayout<Value>.stride
        let objects = values.values.reduce(0) { count, value in
            if case .objects(let identifiers) = value { count + identifiers.count } else { count }
        }
        return 64 + values.count * 2 * slot
            + objects * MemoryLayout<PersistentIdentifier>.stride
    }

    private static func memoryBytes(_ edits: [RelationshipEdit]) -> Int {
        edits.count * 2 * MemoryLayout<RelationshipEdit>.stride
    }
}
