import FoundationEssentials

// The text form of identifiers, as in Core Data and SwiftData:
// `x-coredata://<STORE-UUID>/<Entity>/p<key>`, temporary `x-coredata:///<Entity>/t<name>`.
//
// Identifiers and texts correspond one to one. A permanent key is a canonical decimal from 1; a
// temporary name is any non-empty text, percent-encoded as in a URI. Parsing does not check whether
// store, entity and object exist.

extension PersistentIdentifier {
    /// The identifier as a URI, which can be passed to another process.
    ///
    /// Disfavored, because SwiftDataKit has one that is a `URL`.
    @_disfavoredOverload
    public var uriRepresentation: String {
        let start = "\(Self.uriStart)\(store?.uuidString ?? "")/\(Self.encoded(entityName))/"
        return switch key {
        case .permanent(let number): "\(start)p\(number)"
        case .temporary(let name): "\(start)t\(Self.encoded(name))"
        }
    }

    /// Parses an identifier from its URI.
    ///
    /// - Throws: `malformedIdentifier` with a message that names the invalid part.
    public init(uriRepresentation: String) throws(LarderError) {
        let text = uriRepresentation.utf8
        guard text.starts(with: Self.uriStart.utf8) else {
            throw Self.malformed("it must begin with `\(Self.uriStart)`")
        }
        let parts = text.dropFirst(Self.uriStart.utf8.count).split(
            separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            throw Self.malformed("it must have exactly three parts: store, entity and key")
        }
        let entityName = Substring(parts[1])
        guard SchemaName.isWellFormed(entityName) else {
            throw Self.malformed("its second part must be the name of an entity")
        }
        if parts[0].isEmpty {
            let name = try Self.temporaryName(parts[2])
            self.init(temporary: name, entityName: String(entityName))
        } else {
            guard parts[0].count == 36, let store = UUID(uuidString: String(Substring(parts[0])))
            else { throw Self.malformed("its first part must be the UUID of a store") }
            let key = try Self.permanentKey(parts[2])
            self.init(store: store, entityName: String(entityName), key: key)
        }
    }

    /// Parses a URI, or the short identifier `Article/p7` of an object of a store.
    ///
    /// - Parameter store: The UUID of the store that the text is used with.
    /// - Throws: `malformedIdentifier` as for a URI.
    public init(text: String, in store: UUID) throws(LarderError) {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 2, SchemaName.isWellFormed(Substring(parts[0])),
            parts[1].first == UInt8(ascii: "p")
        else {
            do throws(LarderError) {
                try self.init(uriRepresentation: text)
            } catch {
                guard text.utf8.count < 64, !text.hasPrefix(Self.uriStart) else { throw error }
                throw error.hinting(
                    "an object of this store is named by its entity and its number, as Article/p7 "
                        + "is; its URI looks like x-coredata://<UUID>/Article/p7")
            }
            return
        }
        let key = try Self.permanentKey(parts[1])
        self.init(store: store, entityName: String(Substring(parts[0])), key: key)
    }

    /// The identifier without its store, `Article/p7`, for people; a temporary identifier is a URI.
    public var shortText: String {
        permanentKey.map { "\(entityName)/p\($0)" } ?? uriRepresentation
    }

    private static let uriStart = "x-coredata://"

    private static func malformed(_ sentence: String) -> LarderError {
        LarderError(
            .malformedIdentifier, "the identifier is malformed: \(sentence)",
            hint: "an identifier looks like x-coredata://<UUID>/<Entity>/p<number>")
    }

    private static func permanentKey(_ part: Substring.UTF8View) throws(LarderError) -> Int64 {
        let digits = part.dropFirst()
        guard part.first == UInt8(ascii: "p"), let first = digits.first,
            (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(first)
        else { throw malformed("its third part must be `p` and a number from 1") }
        guard digits.count <= 19, let key = Int64(Substring(digits)) else {
            throw malformed("its key must be a number from 1 to \(Int64.max)")
        }
        return key
    }

    private static func temporaryName(_ part: Substring.UTF8View) throws(LarderError) -> String {
        guard part.first == UInt8(ascii: "t") else {
            throw malformed("without a store its third part must be `t` and a name")
        }
        guard part.count > 1 else { throw malformed("its temporary name is empty") }
        guard let bytes = decoded(part.dropFirst()),
            let name = String(validating: bytes, as: UTF8.self)
        else { throw malformed("its temporary name must be percent-encoded UTF-8") }
        return name
    }

    /// Percent-encodes all characters except the unreserved ones of RFC 3986.
    private static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                if byte < 0x10 { bytes.append(UInt8(ascii: "0")) }
                bytes += String(byte, radix: 16, uppercase: true).utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func decoded(_ part: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = part[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(\.hexadecimalDigitValue),
                    let low = rest.popFirst().flatMap(\.hexadecimalDigitValue)
                else { return nil }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: byte.isASCIILetter || byte.isASCIIDigit
        }
    }
}

extension PersistentIdentifier: CustomStringConvertible {
    /// The URI.
    public var description: String { uriRepresentation }
}

extension PersistentIdentifier: Comparable {
    /// Orders by store (temporary identifiers first), entity, then key: keys by number, temporary
    /// names by text.
    public static func < (left: Self, right: Self) -> Bool {
        if left.store != right.store {
            guard let leftStore = left.store, let rightStore = right.store else {
                return left.store == nil
            }
            return leftStore < rightStore
        }
        if left.entityName != right.entityName { return left.entityName < right.entityName }
        return switch (left.key, right.key) {
        case (.permanent(let left), .permanent(let right)): left < right
        case (.temporary(let left), .temporary(let right)): left < right
        case (.permanent, .temporary): true
        case (.temporary, .permanent): false
        }
    }
}
