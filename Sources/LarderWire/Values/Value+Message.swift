internal import FoundationEssentials
internal import LarderModel

// The message `Value`.

extension Value {
    init(decoding bytes: RawSpan) throws(LarderError) {
        var value: Value?
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .number): value = .null
            case (2, .number(let number)): value = .bool(number != 0)
            case (3, .number(let number)):
                // Zigzag: the lowest bit is the sign.
                value = .int(Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
            case (4, .fixed(let bytes)) where bytes.byteCount == 4:
                let float = Float(bitPattern: bytes.number(as: UInt32.self))
                guard !float.isNaN else { throw .malformedValue("the float value is NaN") }
                value = .float(float)
            case (5, .fixed(let bytes)) where bytes.byteCount == 8:
                let double = Double(bitPattern: bytes.number(as: UInt64.self))
                guard !double.isNaN else { throw .malformedValue("the double value is NaN") }
                value = .double(double)
            case (8, .fixed(let bytes)) where bytes.byteCount == 8:
                let seconds = Double(bitPattern: bytes.number(as: UInt64.self))
                guard seconds.isFinite else {
                    throw .malformedValue("the date value is not finite")
                }
                value = .date(Date(timeIntervalSinceReferenceDate: seconds))
            case (6...7, .bytes(let bytes)), (9...12, .bytes(let bytes)):
                value = try Value(field.number, decoding: bytes)
            case (13...14, .bytes(let bytes)):
                if value != nil { throw .repeated("the kind of a value") }
                value = try Value(field.number, decoding: bytes)
            case (1...14, _): throw .unreadable
            default: break
            }
        }
        guard let value else { throw .malformed("the value has no known kind") }
        self = value
    }

    /// - Parameter field: The number of a field of bytes.
    private init(_ field: UInt32, decoding bytes: RawSpan) throws(LarderError) {
        switch field {
        case 6:
            guard let decimal = Decimal(exactly: try bytes.text("the decimal value")) else {
                throw .malformedValue("the decimal value is not a decimal number")
            }
            self = .decimal(decimal)
        case 7: self = .string(try bytes.text("the string value"))
        case 9: self = .uuid(try bytes.uuid("the UUID value"))
        case 10:
            let text = try bytes.text("the URL value")
            guard let url = URL(string: text, encodingInvalidCharacters: false) else {
                throw .malformedValue("the URL value is not a URL")
            }
            self = .url(url)
        case 11: self = .data(bytes.data)
        case 12: self = try .json(checking: bytes.text("the JSON value"))
        case 13: self = .object(try PersistentIdentifier(decoding: bytes))
        default: self = .objects(try Self.identifiers(decoding: bytes))
        }
    }

    /// The message `Identifiers`.
    private static func identifiers(
        decoding bytes: RawSpan
    ) throws(LarderError) -> [PersistentIdentifier] {
        var fields = FieldScanner(bytes)
        var identifiers: [PersistentIdentifier] = []
        identifiers.reserveCapacity(
            try fields.count(
                of: 1, "identifiers in a value", maximum: Limits.identifiersMax))
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                identifiers.append(try PersistentIdentifier(decoding: bytes))
            case (1, _): throw .unreadable
            default: break
            }
        }
        return identifiers
    }
}

extension MessageBuffer {
    func value(_ field: UInt32, _ value: Value) throws(LarderError) {
        try message(field) { () throws(LarderError) in
            switch value {
            case .null: member(1, 1)
            case .bool(let bool): member(2, bool ? 1 : 0)
            // Zigzag: the lowest bit is the sign.
            case .int(let int): member(3, UInt64(bitPattern: int << 1 ^ int >> 63))
            case .float(let float):
                guard !float.isNaN else { throw .malformedValue("the float value is NaN") }
                member(4, fixed: float.bitPattern)
            case .double(let double):
                guard !double.isNaN else { throw .malformedValue("the double value is NaN") }
                member(5, fixed: double.bitPattern)
            case .decimal(let decimal):
                guard !decimal.isNaN else { throw .malformedValue("the decimal value is NaN") }
                element(6, decimal.description)
            case .string(let string): element(7, string)
            case .date(let date):
                let seconds = date.timeIntervalSinceReferenceDate
                guard seconds.isFinite else {
                    throw .malformedValue("the date value is not finite")
                }
                member(8, fixed: seconds.bitPattern)
            case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { element(9, $0) }
            case .url(let url): element(10, url.absoluteString)
            case .data(let data): data.withUnsafeBytes { element(11, $0) }
            case .json(let json): element(12, json)
            case .object(let identifier): try self.identifier(13, identifier)
            case .objects(let identifiers):
                try message(14) { () throws(LarderError) in
                    for identifier in identifiers { try self.identifier(1, identifier) }
                }
            }
        }
    }
}
