/// The fields of a form or of an address, as a browser encodes them. A name may occur several
/// times.
struct Fields: Sendable {
    /// The longest form in bytes, and the largest number of fields.
    static let bytesMax = 2 << 20
    static let countMax = 4_000

    private var values: [String: [String]] = [:]

    /// - Throws: ``BrowseError/malformedForm`` for text that no browser sends: a percent sign
    ///   without two digits, bytes that are not UTF-8, a NUL character.
    init(encoded text: String) throws(BrowseError) {
        var count = 0
        for part in text.utf8.split(separator: UInt8(ascii: "&")) {
            count += 1
            guard count <= Self.countMax else { throw .malformedForm }
            let sides = part.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(sides[0]),
                let value = sides.count > 1 ? Self.decoded(sides[1]) : ""
            else { throw .malformedForm }
            values[name, default: []].append(value)
        }
    }

    /// The value of a field without spaces around it; empty if there is none.
    subscript(name: String) -> String {
        let text = exact(name)
        guard let start = text.firstIndex(where: { !$0.isWhitespace }),
            let end = text.lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(text[start...end])
    }

    /// The value as it was typed.
    func exact(_ name: String) -> String { values[name]?.first ?? "" }

    /// All values of a name, in their order.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    func has(_ name: String) -> Bool { values[name] != nil }

    /// A number that is not negative; 0 for anything else.
    func number(_ name: String, max: Int64 = .max) -> Int64 {
        Int64(self[name]).map { Swift.min(Swift.max(0, $0), max) } ?? 0
    }

    /// A browser sends each line end as CR LF.
    private static func decoded(_ bytes: Substring.UTF8View) -> String? {
        var decoded: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit),
                    let low = rest.popFirst().flatMap(digit)
                else { return nil }
                let value = high << 4 | low
                guard value != 0 else { return nil }
                if value == 0x0A, decoded.last == 0x0D { decoded.removeLast() }
                decoded.append(value)
            default: decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
