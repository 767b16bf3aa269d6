internal import FoundationEssentials
internal import LarderModel

// The messages `DeleteHistoryRequest` and `DeleteHistoryReply`.

extension HistoryDeletion {
    init(decoding bytes: RawSpan) throws(LarderError) {
        // The last one of the members applies.
        var deletion: HistoryDeletion?
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                if deletion != nil { throw .repeated("the end of a deletion") }
                deletion = .upTo(try HistoryToken(decoding: bytes))
            case (2, .fixed(let bytes)) where bytes.byteCount == 8:
                deletion = .before(try Date(decoding: bytes))
            case (3, .number(let bits)):
                let count = Int64(bitPattern: bits)
                guard count >= 0 else { throw .malformed("the number to keep is negative") }
                deletion = .keeping(count)
            case (1...3, _): throw .unreadable
            default: break
            }
        }
        guard let deletion else { throw .malformed("what to delete is missing") }
        self = deletion
    }
}

extension MessageBuffer {
    func deleteHistory(_ deletion: HistoryDeletion) throws(LarderError) {
        switch deletion {
        case .upTo(let token): try self.token(1, token)
        case .before(let date): member(2, fixed: date.timeIntervalSinceReferenceDate.bitPattern)
        case .keeping(let count): member(3, UInt64(bitPattern: max(0, count)))
        }
    }
}
