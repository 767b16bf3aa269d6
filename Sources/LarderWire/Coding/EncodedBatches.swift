public import FoundationEssentials
public import LarderModel

/// Rows as they came in a reply. Whoever asked for them reads them, as batches or as objects.
public struct EncodedBatches: Hashable, Sendable {
    private let bytes: [UInt8]

    /// - Parameter bytes: A whole `BatchesReply`.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The rows by column, checked.
    ///
    /// - Throws: `malformedMessage`, `resourceExhausted`.
    public func batches() throws(LarderError) -> [Batch] {
        try read { (bytes) throws(LarderError) in
            var count = 0
            _ = try Self.scan(bytes) { _ in count += 1 }
            guard count <= Limits.entitiesMax else {
                throw MessageReader.tooMany("batches", count, maximum: Limits.entitiesMax)
            }
            var batches: [Batch] = []
            batches.reserveCapacity(count)
            _ = try Self.scan(bytes) { (batch) throws(LarderError) in
                batches.append(try Batch(encoded: batch))
            }
            return batches
        }
    }

    /// The rows as the objects that they are; none of a batch that has no identities. A single
    /// object, as most reads ask for, is made without arrays between.
    ///
    /// - Throws: as ``batches()`` does.
    public func records(store: UUID) throws(LarderError) -> [Record] {
        let record = try read { (bytes) throws(LarderError) in
            var first: UnsafeRawBufferPointer?
            var count = 0
            _ = try Self.scan(bytes) { batch in
                if count == 0 { first = batch }
                count += 1
            }
            return count == 1 ? first.flatMap { Record(onlyRowOf: $0, store: store) } : nil
        }
        if let record { return [record] }
        let batches = try batches()
        return batches.count == 1
            ? batches[0].records(store: store) : batches.flatMap { $0.records(store: store) }
    }

    private func read<Result>(
        _ body: (UnsafeRawBufferPointer) throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        try bytes.withUnsafeBufferPointer { (bytes) throws(LarderError) in
            try body(UnsafeRawBufferPointer(bytes))
        }
    }
}

extension EncodedBatches {
    /// The bytes, for sending; whoever has the batches keeps them until then.
    var pointer: UnsafeRawBufferPointer { bytes.withUnsafeBytes { $0 } }

    /// Whether another reply follows one that holds these bytes; looks at no batch.
    ///
    /// - Throws: `malformedMessage` if they are no `BatchesReply`.
    static func more(in bytes: UnsafeRawBufferPointer) throws(LarderError) -> Bool {
        try scan(bytes) { _ in }
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
