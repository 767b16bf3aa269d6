import LarderModel

/// Makes names of entities and properties of the names of files, tables and columns.
struct InferredNames {
    /// The names so far, in lower case, because names differ in more than case.
    private var used: Set<String> = []

    /// The name of the property of a column: its own if that is a valid name, or else one with its
    /// words, such as `wordCount` for `Word count`.
    ///
    /// - Parameter position: The index of the column, for a name without a letter.
    mutating func property(_ column: String, position: Int) -> String {
        let name = Self.isValid(column) ? column : Self.camelCase(column)
        return unique(name.isEmpty ? "column\(position + 1)" : name)
    }

    /// The name of an entity, such as `AirPorts` for `air-ports.csv`.
    mutating func entity(_ text: String) -> String {
        let name = Self.camelCase(text)
        guard let first = name.first else { return unique("Entity") }
        return unique(first.uppercased() + name.dropFirst())
    }

    /// The name of a file without its folder and its endings.
    static func base(of path: String) -> String {
        let file = path.split(separator: "/").last ?? ""
        return String(file.prefix { $0 != "." })
    }

    mutating func reserve(_ name: String) { used.insert(name.lowercased()) }

    private mutating func unique(_ name: String) -> String {
        let name = String(name.prefix(Self.lengthMax))
        var result = name
        var number = 2
        while !used.insert(result.lowercased()).inserted {
            result = "\(name)\(number)"
            number += 1
        }
        return result
    }

    /// Leaves room for a number.
    private static let lengthMax = Limits.nameBytesMax - 8

    private static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first), name.utf8.count <= lengthMax else {
            return false
        }
        return name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
            && !name.lowercased().hasPrefix("sqlite_")
    }

    /// The words of a text as one word. Letters with accents lose them; other characters separate
    /// words.
    private static func camelCase(_ text: String) -> String {
        let plain = text.map { character in
            character.isASCII
                ? String(character)
                : String(character).folded(caseInsensitive: true, diacriticInsensitive: true)
        }.joined()
        let words = Array(plain.utf8).split { !isLetter($0) && !isDigit($0) }
        var result = ""
        for word in words {
            let letters = String(decoding: word, as: UTF8.self)
            let isUpper = letters == letters.uppercased()
            if result.isEmpty {
                result =
                    isUpper
                    ? letters.lowercased() : letters.prefix(1).lowercased() + letters.dropFirst()
            } else {
                result +=
                    letters.prefix(1).uppercased()
                    + (isUpper ? letters.dropFirst().lowercased() : String(letters.dropFirst()))
            }
        }
        guard let first = result.utf8.first else { return "" }
        return isLetter(first) ? result : "column" + result
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
