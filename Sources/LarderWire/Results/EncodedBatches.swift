package import FoundationEssentials
package import LarderModel

/// The batches of one reply, possibly still encoded: the message `BatchesReply`.
///
/// A decoder leaves a short reply encoded, so that the caller that waits for it decodes it and not
/// the thread that receives for all callers. A long reply is decoded at once, which saves a copy. A
/// server encodes replies that it caches.
package struct EncodedBatches: Hashable, Sendable {
    private enum Form: Hashable {
        /// A whole `BatchesReply`.
        case encoded([UInt8])
        case decoded([Batch])
    }

    private static let encodedBytesMax = 4 << 10

    private let form: Form

    /// - Parameter bytes: A whole `BatchesReply`.
    /// - Throws: `malformedMessage`, `resourceExhausted`; for a short one ``batches()`` throws.
    init(_ bytes: RawSpan) throws(LarderError) {
        form =
            bytes.byteCount <= Self.encodedBytesMax
            ? .encoded(bytes.array) : .decoded(try Self.batches(in: bytes))
    }

    package init(_ batches: [Batch]) { form = .decoded(batches) }

    /// Encodes the last reply to a request.
    package init(encoding batches: [Batch]) {
        let byteCount = Self.byteCount(batches, more: false)
        form = .encoded(
            [UInt8](unsafeUninitializedCapacity: byteCount) { memory, count in
                let bytes = UnsafeMutableRawBufferPointer(
                    start: memory.baseAddress, count: byteCount)
                Self.write(batches, more: false, to: bytes)
                count = byteCount
            })
    }

    /// The length of the encoded reply; 0 if it is decoded.
    package var byteCount: Int { encodedBytes?.count ?? 0 }

    /// A whole `BatchesReply`; nil if it is decoded.
    var encodedBytes: [UInt8]? {
        if case .encoded(let bytes) = form { bytes } else { nil }
    }

    /// The rows by column, checked.
    ///
    /// - Throws: `malformedMessage`, `resourceExhausted`.
    package func batches() throws(LarderError) -> [Batch] {
        switch form {
        case .decoded(let batches): batches
        case .encoded(let bytes): try Self.batches(in: bytes.span.bytes)
        }
    }

    /// The rows as objects; rows of a batch without identities are left out.
    ///
    /// - Throws: as ``batches()`` does.
    package func records(store: UUID) throws(LarderError) -> [Record] {
        if case .encoded(let bytes) = form,
            let record = try Self.record(in: bytes.span.bytes, store)
        {
            return [record]
        }
        let batches = try batches()
        return batches.count == 1
            ? batches[0].records(store: store) : batches.flatMap { $0.records(store: store) }
    }
}

// The message `BatchesReply`.

extension EncodedBatches {
    /// Whether another reply follows this one; decodes no batch.
    ///
    /// - Throws: `malformedMessage` if the bytes are not a `BatchesReply`.
    static func more(in bytes: RawSpan) throws(LarderError) -> Bool {
        var more = false
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes): break
            case (2, .number(let number)): more = number != 0
            case (1...2, _): throw .unreadable
            default: break
            }
        }
        return more
    }

    static func batches(in bytes: RawSpan) throws(LarderError) -> [Batch] {
        var fields = FieldScanner(bytes)
        var batches: [Batch] = []
        batches.reserveCapacity(
            try fields.count(of: 1, "batches", maximum: Limits.entitiesMax))
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): batches.append(try Batch(decoding: bytes))
            case (2, .number): break
            case (1...2, _): throw .unreadable
            default: break
            }
        }
        return batches
    }

    /// The only object, if the reply has one batch that the fast path decodes.
    private static func record(in bytes: RawSpan, _ store: UUID) throws(LarderError) -> Record? {
        var batch = bytes.extracting(first: 0)
        var count = 0
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                batch = bytes
                count += 1
            case (2, .number): break
            case (1...2, _): throw .unreadable
            default: break
            }
        }
        return count == 1 ? Record(onlyRowOf: batch, store: store) : nil
    }

    /// The length of the encoded reply.
    package static func byteCount(_ batches: [Batch], more: Bool) -> Int {
        var count = FieldWriter.byteCount(ofNumber: more ? 1 : 0)
        let batches = batches.span
        for index in batches.indices {
            count += FieldWriter.byteCount(ofMessage: batches.messageByteCount(at: index))
        }
        return count
    }

    /// - Parameter memory: Has ``byteCount(_:more:)`` bytes.
    static func write(
        _ batches: [Batch], more: Bool, to memory: UnsafeMutableRawBufferPointer
    ) {
        var writer = FieldWriter(memory)
        writer.number(2, more ? 1 : 0)
        let batches = batches.span
        for index in batches.indices.reversed() {
            let end = writer.freeByteCount
            batches.write(at: index, to: &writer)
            writer.endMessage(1, end - writer.freeByteCount)
        }
        writer.finish()
    }
}
