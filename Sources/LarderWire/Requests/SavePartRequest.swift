internal import LarderModel

extension Request {
    /// The message `SavePartRequest`.
    static func savePart(decoding bytes: RawSpan) throws(LarderError) -> Request {
        var (requestID, content, isLast): (UInt64, [UInt8], Bool) = (0, [], false)
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .number(let number)): requestID = number
            case (2, .bytes(let bytes)): content = bytes.withUnsafeBytes { Array($0) }
            case (3, .number(let number)): isLast = number != 0
            case (1...3, _): throw .unreadable
            default: break
            }
        }
        return .savePart(requestID: requestID, content, isLast: isLast)
    }
}

extension MessageBuffer {
    func savePart(_ requestID: UInt64, _ content: [UInt8], isLast: Bool) {
        number(1, requestID)
        if !content.isEmpty { content.withUnsafeBytes { element(2, $0) } }
        bool(3, isLast)
    }
}
