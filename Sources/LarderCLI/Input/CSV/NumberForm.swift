import LarderModel

/// How numbers are written in a file: their decimal separator, and the separator of thousands.
struct NumberForm: Sendable {
    /// One character each, in UTF-8.
    private let decimal: [UInt8]
    private let thousands: [UInt8]?

    /// - Parameters:
    ///   - decimal: The character before the fraction.
    ///   - thousands: The character between groups of three digits; nil if there is none.
    init(decimal: String, thousands: String?) {
        self.decimal = Array(decimal.utf8)
        self.thousands = thousands.map { Array($0.utf8) }
    }

    /// Whether a text can be one of the separators.
    static func isSeparator(_ text: String) -> Bool {
        guard text.count == 1, let character = text.first, text.utf8.count <= 4 else {
            return false
        }
        return !character.isNumber && !character.isLetter && !"+-\r\n\"".contains(character)
    }

    /// The number with a decimal point and without separators of thousands; nil for a text of
    /// another form. All groups after the first have three digits.
    func plain(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var whole = text
        var fraction: ArraySlice<UInt8> = []
        if let start = text.firstIndex(of: decimal) {
            whole = text[..<start]
            fraction = text[(start + decimal.count)...]
            guard !fraction.isEmpty else { return nil }
        }
        var result: [UInt8] = []
        if let thousands, whole.firstIndex(of: thousands) != nil {
            if whole.first == UInt8(ascii: "-") || whole.first == UInt8(ascii: "+") {
                result += whole.prefix(1)
                whole = whole.dropFirst()
            }
            let groups = whole.split(separator: thousands, omittingEmptySubsequences: false)
            for (index, group) in groups.enumerated() {
                guard index == 0 ? 1...3 ~= group.count : group.count == 3,
                    group.allSatisfy({ (0x30...0x39).contains($0) })
                else { return nil }
                result += group
            }
        } else {
            result += whole
        }
        // Another character that a number may contain, such as a point, is no part of this form.
        guard !result.contains(UInt8(ascii: ".")), !fraction.contains(UInt8(ascii: ".")) else {
            return nil
        }
        if !fraction.isEmpty { result += [UInt8(ascii: ".")] + fraction }
        return result[...]
    }
}

extension ArraySlice<UInt8> {
    /// The index at which a sequence of bytes begins first.
    fileprivate func firstIndex(of part: [UInt8]) -> Int? {
        indices.first { self[$0...].starts(with: part) }
    }
}
