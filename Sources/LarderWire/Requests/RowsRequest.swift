internal import LarderModel

extension Request {
    /// The message `RowsRequest`.
    static func rows(decoding bytes: RawSpan) throws(LarderError) -> Request {
        var (requestID, batch, isLast): (UInt64, Batch?, Bool) = (0, nil, false)
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .number(let number)): requestID = number
            case (2, .bytes(let bytes)):
                if batch != nil { throw .repeated("the batch of a rows request") }
                batch = try Batch(decoding: bytes)
            case (3, .number(let number)): isLast = number != 0
            case (1...3, _): throw .unreadable
            default: break
            }
        }
        return .rows(requestID: requestID, batch, isLast: isLast)
    }
}

extension MessageBuffer {
    func rows(_ requestID: UInt64, _ batch: Batch?, isLast: Bool) {
        number(1, requestID)
        if let batch { self.batch(2, batch) }
        bool(3, isLast)
    }

    /// The message `Batch`.
    func batch(_ field: UInt32, _ batch: Batch) {
        let batches = [batch]
        append(field, byteCount: batches.span.messageByteCount(at: 0)) { memory in
            var writer = FieldWriter(memory)
            batches.span.write(at: 0, to: &writer)
            writer.finish()
        }
    }
}
