internal import LarderModel

// The message `ErrorReply`, coded by hand because `Value` is, which a conflict holds.

extension LarderError {
    init(decoding bytes: RawSpan) throws(LarderError) {
        self.init(ErrorCode(wireNumber: 0), "")
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .number(let number)):
                code = ErrorCode(wireNumber: UInt32(truncatingIfNeeded: number))
            case (2, .bytes(let bytes)): message = try bytes.text("the message of an error")
            case (3, .bytes(let bytes)): hint = try bytes.optionalText("the hint of an error")
            case (4, .number(let number)):
                let column = UInt32(truncatingIfNeeded: number)
                self.column = column == 0 ? nil : Int(column)
            case (5, .bytes(let bytes)): uri = try bytes.optionalText("the URI of an error")
            case (6, .bytes(let bytes)):
                guard problems.count < Limits.changesMax else {
                    throw .tooMany("problems", problems.count + 1, maximum: Limits.changesMax)
                }
                problems.append(try bytes.text("a problem of an error"))
            case (7, .bytes(let bytes)):
                guard details.count < Limits.changesMax else {
                    throw .tooMany("problems", details.count + 1, maximum: Limits.changesMax)
                }
                details.append(try ChangeViolation(decoding: bytes))
            case (1...7, _): throw .unreadable
            default: break
            }
        }
    }
}

extension RawSpan {
    /// The field as text; nil if it is empty, which means that it is absent.
    func optionalText(_ what: String) throws(LarderError) -> String? {
        isEmpty ? nil : try text(what)
    }
}

extension ErrorCode {
    /// A number of a newer server means what its hundred means.
    init(wireNumber number: UInt32) {
        if let code = ErrorCode(rawValue: number) {
            self = code
            return
        }
        switch number / 100 {
        case 2: self = .objectNotFound
        case 3: self = .unsupported
        case 4: self = .versionConflict
        case 5: self = .resourceExhausted
        case 6: self = .unavailable
        case 8: self = .storageFailed
        default: self = .malformedMessage
        }
    }
}

extension MessageBuffer {
    func error(_ error: LarderError) throws(LarderError) {
        number(1, UInt64(error.code.rawValue))
        text(2, error.message)
        text(3, error.hint ?? "")
        number(4, UInt64(UInt32(clamping: error.column ?? 0)))
        text(5, error.uri ?? "")
        for fault in error.problems { element(6, fault) }
        for violation in error.details { try changeViolation(7, violation) }
    }
}
