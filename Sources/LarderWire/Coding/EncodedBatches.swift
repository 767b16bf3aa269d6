internal import CLarderProto
public import FoundationEssentials
public import LarderModel

/// The rows of a reply, as bytes.
///
/// Short ones stay as they came until whoever asked for them reads them, as batches or as objects;
/// of long ones that would be a copy more. A server keeps those that it may send again.
public struct EncodedBatches: Hashable, Sendable {
    private enum Form: Hashable {
        /// A whole `BatchesReply`.
        case encoded([UInt8])
        case decoded([Batch])
    }

    private static let encodedBytesMax = 4 << 10

    private let form: Form

    /// - Parameter bytes: A whole `BatchesReply`.
    /// - Throws: `malformedMessage`, `resourceExhausted`; of short ones, reading them throws.
    init(_ bytes: UnsafeRawBufferPointer) throws(LarderError) {
        form =
            bytes.count <= Self.encodedBytesMax
            ? .encoded(Array(bytes)) : .decoded(try Self.batches(in: bytes))
    }

    public init(_ batches: [Batch]) { form = .decoded(batches) }

    /// The last reply to a request, encoded.
    public init(encoding batches: [Batch]) {
        let bytes = batches.withUnsafeBufferPointer { batches in
            let body = EnvelopeBody(
                LARDER__V1__ENVELOPE__BODY_BATCHES, .batches(batches, more: false))
            return [UInt8](unsafeUninitializedCapacity: body.byteCount) { memory, count in
                count = memory.count
                body.pack(into: UnsafeMutableRawBufferPointer(memory))
            }
        }
        form = .encoded(bytes)
    }

    /// How many bytes are kept; 0 of batches that were decoded.
    public var byteCount: Int { encodedBytes?.count ?? 0 }

    /// A whole `BatchesReply`; nil where it has been decoded.
    var encodedBytes: [UInt8]? {
        if case .encoded(let bytes) = form { bytes } else { nil }
    }

    /// The rows by column, checked.
    ///
    /// - Throws: `malformedMessage`, `resourceExhausted`.
    public func batches() throws(LarderError) -> [Batch] {
        switch form {
        case .decoded(let batches): batches
        case .encoded(let bytes): try Self.read(bytes, Self.batches)
        }
    }

    /// The rows as the objects that they are; none of a batch that has no identities. A single
    /// object, as most reads ask for, is made without arrays between.
    ///
    /// - Throws: as ``batches()`` does.
    public func records(store: UUID) throws(LarderError) -> [Record] {
        if case .encoded(let bytes) = form,
            let record = try Self.read(
                bytes, { (bytes) throws(LarderError) in try Self.record(in: bytes, store) })
        {
            return [record]
        }
        let batches = try batches()
        return batches.count == 1
            ? batches[0].records(store: store) : batches.flatMap { $0.records(store: store) }
    }

    private static func read<Result>(
        _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        try bytes.withUnsafeBufferPointer { (bytes) throws(LarderError) in
            try body(UnsafeRawBufferPointer(bytes))
        }
    }
}

extension EncodedBatches {
    /// Whether another reply follows one that holds these bytes; looks at no batch.
    ///
    /// - Throws: `malformedMessage` if they are no `BatchesReply`.
    static func more(in bytes: UnsafeRawBufferPointer) throws(LarderError) -> Bool {
        try scan(bytes) { _ in }
    }

    static func batches(in bytes: UnsafeRawBufferPointer) throws(LarderError) -> [Batch] {
        var count = 0
        _ = try scan(bytes) { _ in count += 1 }
        guard count <= Limits.entitiesMax else {
            throw MessageReader.tooMany("batches", count, maximum: Limits.entitiesMax)
        }
        var batches: [Batch] = []
        batches.reserveCapacity(count)
        _ = try scan(bytes) { (batch) throws(LarderError) in
            batches.append(try Batch(encoded: batch))
        }
        return batches
    }

    /// The only object, if it is in the form that it usually has.
    private static func record(
        in bytes: UnsafeRawBufferPointer, _ store: UUID
    ) throws(LarderError) -> Record? {
        var first: UnsafeRawBufferPointer?
        var count = 0
        _ = try scan(bytes) { batch in
            if count == 0 { first = batch }
            count += 1
        }
        return count == 1 ? first.flatMap { Record(onlyRowOf: $0, store: store) } : nil
    }

    /// Hands over each batch as it stands.
    ///
    /// - Returns: whether another reply follows.
    private static func scan(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(LarderError) -> Void
    ) throws(LarderError) -> Bool {
        var fields = FieldScanner(bytes)
        var more = false
        while let field = try fields.field() {
            switch (field.number, field.content) {
            case (1, .bytes(let batch)): try body(batch)
            case (2, .number(let number)): more = number != 0
            case (1...2, _): throw FieldScanner.unreadable
            default: break
            }
        }
        return more
    }
}
