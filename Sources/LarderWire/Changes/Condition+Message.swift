internal import LarderModel

// The message `Condition`.

extension ChangeSet.Condition {
    init(decoding bytes: RawSpan, _ arena: Arena) throws(LarderError) {
        var objects: ObjectSelection?
        var count: Int64 = 0
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                if objects != nil { throw .repeated("the objects of a condition") }
                let (selection, assignments) = try ObjectSelection.objectsChange(
                    decoding: bytes, arena)
                guard assignments.isEmpty, !selection.wantsIdentifiers else {
                    throw .malformed("a condition must not have assignments or want identifiers")
                }
                objects = selection
            case (2, .number(let number)): count = Int64(bitPattern: number)
            case (1...2, _): throw .unreadable
            default: break
            }
        }
        guard let objects else { throw .malformed("the condition does not select objects") }
        self.init(objects, count: count)
    }
}

extension MessageBuffer {
    /// - Parameter writer: For the expressions of the predicate.
    func condition(
        _ field: UInt32, _ condition: ChangeSet.Condition, _ writer: ProtobufWriter
    ) throws(LarderError) {
        try message(field) { () throws(LarderError) in
            try objectsChange(1, condition.objects, [], writer)
            number(2, UInt64(bitPattern: condition.count))
        }
    }
}
