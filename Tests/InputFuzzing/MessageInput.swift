import FoundationEssentials
import LarderModel
import LarderWire

/// The body of a message: the first byte is its number in the envelope, the rest is the body.
///
/// An accepted message must encode, and decode to the same message. Messages are compared as bytes,
/// because a column may contain a NaN, which equals nothing.
public struct MessageInput: FuzzedInput {
    public static let name = "messages"

    private static let store = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    public init() {}

    public func fault(of bytes: [UInt8]) -> String? {
        guard let number = bytes.first else { return nil }
        let content = Self.envelope(number, Array(bytes.dropFirst()))
        do {
            return try Self.faultOfRequest(content) ?? Self.faultOfReply(content)
        } catch {
            return "an accepted message is rejected later: \(error)"
        }
    }

    /// An envelope with the id 1.
    private static func envelope(_ number: UInt8, _ body: [UInt8]) -> [UInt8] {
        [0x08, 1] + varint(Int(number) << 3 | 2) + varint(body.count) + body
    }

    private static func varint(_ number: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    private static func content(of frame: [UInt8]) -> [UInt8] {
        Array(frame.dropFirst(Frame.lengthBytes))
    }

    // MARK: Requests

    private static func faultOfRequest(_ content: [UInt8]) throws -> String? {
        let codec = WireCodec()
        guard let envelope = try? codec.decodeRequest(content.span.bytes) else { return nil }
        var frame: [UInt8] = []
        try codec.encode(envelope, into: &frame)
        var again: [UInt8] = []
        let second = Self.content(of: frame)
        try codec.encode(try codec.decodeRequest(second.span.bytes), into: &again)
        guard frame == again else { return "a request differs after it was encoded" }
        switch envelope.request {
        case .query(let query), .explain(let query): return try fault(of: query)
        case .observe(let request): return try fault(of: request.query)
        case .save(let set):
            _ = try codec.changeSetDigest(content.span.bytes)
            guard try codec.changeSetDigest(second.span.bytes) == set.digest() else {
                return "the digest of a set differs after it was encoded"
            }
        case .rows(_, let batch?, _): _ = batch.rows(store: store)
        default: break
        }
        return nil
    }

    /// A server decodes the shape of a query only when it needs a plan.
    private static func fault(of request: QueryRequest) throws -> String? {
        guard let query = try? request.shape.decoded() else { return nil }
        do throws(LarderError) {
            let first = try QueryRequest(query, request.parameters)
            let second = try QueryRequest(try first.shape.decoded(), first.parameters)
            return first.shape == second.shape ? nil : "a query differs after it was encoded"
        } catch {
            // Constants become arguments, which may be too many then.
            guard error.code == .resourceExhausted else { throw error }
            return nil
        }
    }

    // MARK: Replies

    private static func faultOfReply(_ content: [UInt8]) throws -> String? {
        let codec = WireCodec()
        let left = try? codec.decodeReply(content.span.bytes, leavesBatches: true)
        guard let envelope = try? codec.decodeReply(content.span.bytes) else {
            guard let left, case .encodedBatches(let encoded, _) = left.reply else { return nil }
            guard (try? encoded.batches()) == nil else {
                return "batches are accepted only when they are decoded later"
            }
            // The path for one object need not check what it does not return.
            _ = try? encoded.records(store: store)
            return nil
        }
        var frame: [UInt8] = []
        try codec.encode(envelope, into: &frame)
        var again: [UInt8] = []
        let second = Self.content(of: frame)
        try codec.encode(try codec.decodeReply(second.span.bytes), into: &again)
        guard frame == again else { return "a reply differs after it was encoded" }
        if case .observed(let observed, _) = envelope.reply, let rows = observed.rows {
            _ = (rows.rows(store: store), rows.records(store: store))
            _ = observed.sections?.rows(store: store)
        }
        guard case .batches(let batches, _) = envelope.reply else { return nil }
        guard let left, case .encodedBatches(let encoded, _) = left.reply else {
            return "batches are rejected only when they are left encoded"
        }
        for batch in batches { _ = batch.rows(store: store) }
        let expected = batches.flatMap { $0.records(store: store) }
        guard try encoded.records(store: store).map(Self.text) == expected.map(Self.text) else {
            return "objects differ when their batches are decoded later"
        }
        return nil
    }

    private static func text(_ record: Record) -> String {
        let values = record.values.sorted { $0.key < $1.key }
        return "\(record.identifier) \(record.version) \(values)"
    }
}
