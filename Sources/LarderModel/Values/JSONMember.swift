import FoundationEssentials

/// A member of a JSON document, selected by a path of keys and array indexes.
///
/// The document is scanned as text, without building a tree.
package struct JSONMember: Sendable {
    /// The JSON text of the member, unchanged.
    package let text: String

    /// Nil if there is no such member or if it is null. The document must be well formed, as all
    /// stored documents are.
    package init?(of document: String, at path: [String]) {
        var parser = JSONParser(document, .never)
        guard (try? parser.find(path)) == true, let start = parser.startOfValue else { return nil }
        guard (try? parser.skipValue()) != nil else { return nil }
        let text = String(decoding: parser.bytes[start..<parser.position], as: UTF8.self)
        guard text != "null" else { return nil }
        self.text = text
    }

    /// The member as a value of a type; nil if it is of another kind. Only whole numbers are read
    /// as integers; strings are converted to dates, UUIDs, URLs and data.
    package func value(as type: AttributeType) -> Value? {
        if type == .json { return .json(text) }
        guard let value = try? JSONValue(parsing: text) else { return nil }
        switch (value, type) {
        case (.bool(let bool), .bool): return .bool(bool)
        case (.string(let string), .string): return .string(string.normalized)
        case (.string(let string), .date), (.string(let string), .uuid),
            (.string(let string), .url), (.string(let string), .data):
            return try? Value(text: string, type: type)
        case (.integer(let integer), .int16), (.integer(let integer), .int32),
            (.integer(let integer), .int64):
            return .int(integer)
        case (.integer(let integer), .float), (.integer(let integer), .double):
            return .double(Double(integer))
        case (.integer(let integer), .decimal): return .decimal(Decimal(integer))
        case (.double(let double), .float), (.double(let double), .double): return .double(double)
        case (.decimal(let text), .float), (.decimal(let text), .double):
            return Double(text).map { .double($0) }
        case (.double, .decimal), (.decimal, .decimal):
            return Decimal(exactly: text).map { .decimal($0) }
        default: return nil
        }
    }

    /// Its type; never nil, because null is no member.
    package var kind: JSONKind? { JSONKind(of: text) }

    /// The elements of a document that is an array, as JSON texts; none of another one.
    package static func elements(of document: String) -> [String] {
        var parser = JSONParser(document, .never)
        return (try? parser.elements()) ?? []
    }
}

extension JSONParser {
    /// The offset of the next value; nil at the end.
    fileprivate var startOfValue: Int? { position < bytes.count ? position : nil }

    /// Moves to the member at the end of the path; returns false if there is none.
    fileprivate mutating func find(_ path: [String]) throws(LarderError) -> Bool {
        skipSpace()
        for step in path {
            switch current {
            case UInt8(ascii: "{"): guard try enterObject(to: step) else { return false }
            case UInt8(ascii: "["):
                guard let index = Int(step), index >= 0, try enterArray(to: index) else {
                    return false
                }
            default: return false
            }
            skipSpace()
        }
        return true
    }

    private mutating func enterObject(to key: String) throws(LarderError) -> Bool {
        step()
        skipSpace()
        while current == UInt8(ascii: "\"") {
            let found = try string() == key
            skipSpace()
            step()
            skipSpace()
            if found { return true }
            try skipValue()
            skipSpace()
            guard current == UInt8(ascii: ",") else { return false }
            step()
            skipSpace()
        }
        return false
    }

    private mutating func enterArray(to index: Int) throws(LarderError) -> Bool {
        step()
        skipSpace()
        guard current != UInt8(ascii: "]") else { return false }
        for _ in 0..<index {
            try skipValue()
            skipSpace()
            guard current == UInt8(ascii: ",") else { return false }
            step()
            skipSpace()
        }
        return true
    }

    /// The texts of the elements of the array at the position; none if there is no array.
    fileprivate mutating func elements() throws(LarderError) -> [String] {
        skipSpace()
        guard current == UInt8(ascii: "[") else { return [] }
        var elements: [String] = []
        repeat {
            step()
            skipSpace()
            if current == UInt8(ascii: "]") { break }
            let start = position
            try skipValue()
            elements.append(String(decoding: bytes[start..<position], as: UTF8.self))
            skipSpace()
        } while current == UInt8(ascii: ",")
        return elements
    }

    /// Skips the value at the position, counting brackets and skipping whole strings.
    fileprivate mutating func skipValue() throws(LarderError) {
        var depth = 0
        repeat {
            switch current {
            case UInt8(ascii: "\""): skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                step()
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                step()
            case nil: throw expected("a value")
            default:
                let isScalar = depth == 0
                repeat { step() } while isScalar && !isEndOfScalar
            }
        } while depth > 0
    }

    private var isEndOfScalar: Bool {
        switch current {
        case nil, UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0x20, 0x0A, 0x0D, 0x09:
            true
        default: false
        }
    }

    /// Stops at the end, which a damaged document may reach early.
    private mutating func step() { position = min(position + 1, bytes.count) }

    private mutating func skipString() {
        step()
        while let byte = current, byte != UInt8(ascii: "\"") {
            step()
            if byte == UInt8(ascii: "\\") { step() }
        }
        step()
    }
}
