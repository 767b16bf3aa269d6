import LarderModel

/// The forms of usual scalars that `[c]` and `[d]` compare, for texts that need no other rule.
///
/// A *simple* scalar is a character of its own next to any other simple scalar, except that CR LF
/// is one character; and neither it nor its form composes with a neighbor. So a text of simple
/// scalars is folded scalar by scalar, and its scalars are its characters. These are ASCII, Latin,
/// Greek, Cyrillic and Armenian letters, kana, Chinese characters, Hangul syllables, and single
/// emoji, but no combining marks. All other texts are handled by `String.folded`, which also makes
/// the entries of the table.
struct FoldingTable: Sendable {
    /// Up to seven bytes, the first one lowest, and their number in the highest byte; 0 for a
    /// scalar whose form is not simple.
    private let entries: [UInt64]
    private let isCaseInsensitive: Bool

    static let caseInsensitive = FoldingTable(caseInsensitive: true, diacriticInsensitive: false)
    static let diacriticInsensitive = FoldingTable(
        caseInsensitive: false, diacriticInsensitive: true)
    static let both = FoldingTable(caseInsensitive: true, diacriticInsensitive: true)

    /// The table for these options; nil for none of them.
    static func table(caseInsensitive: Bool, diacriticInsensitive: Bool) -> FoldingTable? {
        switch (caseInsensitive, diacriticInsensitive) {
        case (true, true): both
        case (true, false): Self.caseInsensitive
        case (false, true): Self.diacriticInsensitive
        case (false, false): nil
        }
    }

    private init(caseInsensitive: Bool, diacriticInsensitive: Bool) {
        isCaseInsensitive = caseInsensitive
        entries = Self.foldedRanges.flatMap { range in
            range.map { value in
                guard let scalar = Unicode.Scalar(value), Self.isSimple(value) else { return 0 }
                let folded = String(scalar).folded(
                    caseInsensitive: caseInsensitive, diacriticInsensitive: diacriticInsensitive)
                guard folded.unicodeScalars.allSatisfy({ Self.isSimple($0.value) }),
                    folded.utf8.count <= 7
                else { return 0 }
                return folded.utf8.reversed().reduce(UInt64(folded.utf8.count) << 56) {
                    entry, byte in
                    entry & 0xFF << 56 | (entry & ~(0xFF << 56)) << 8 | UInt64(byte)
                }
            }
        }
    }

    // MARK: Simple scalars

    /// The scalars beyond ASCII that have entries. A form has at most three times as many bytes.
    private static let foldedRanges: [Range<UInt32>] = [
        0x80..<0x590, 0x1E00..<0x2000, 0x3041..<0x3100, 0xFF01..<0xFF9E,
    ]
    static let growthMax = 3

    /// Whether a scalar is simple; those outside ``foldedRanges`` are their own forms.
    @inline(__always)
    static func isSimple(_ scalar: UInt32) -> Bool {
        scalar < 0x300 || isSimpleBeyondLatin(scalar)
    }

    private static func isSimpleBeyondLatin(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x370..<0x483, 0x48A..<0x590, 0x1E00..<0x2000, 0x2010..<0x2028, 0x2030..<0x205F,
            0x20A0..<0x20C1, 0x3000..<0x302A, 0x3041..<0x3097, 0x309B..<0x3100, 0x3400..<0x4DC0,
            0x4E00..<0xA000, 0xAC00..<0xD7A4, 0xFF01..<0xFF9E, 0x1F300..<0x1F3FB,
            0x1F400..<0x1F650, 0x1F680..<0x1F700, 0x1F900..<0x1FA00:
            true
        default: false
        }
    }

    @inline(__always)
    private static func entryIndex(_ scalar: UInt32) -> Int? {
        switch scalar {
        case 0x80..<0x590: Int(scalar) - 0x80
        case 0x1E00..<0x2000: Int(scalar) - 0x1E00 + 0x510
        case 0x3041..<0x3100: Int(scalar) - 0x3041 + 0x710
        case 0xFF01..<0xFF9E: Int(scalar) - 0xFF01 + 0x7CF
        default: nil
        }
    }

    // MARK: Folding

    /// Writes the form of a text to the start of a buffer, which grows to ``growthMax`` times the
    /// text.
    ///
    /// - Returns: the number of bytes; nil for a text with other scalars or invalid UTF-8.
    func fold(_ text: Span<UInt8>, into buffer: inout [UInt8]) -> Int? {
        let needed = text.count * Self.growthMax + MemoryLayout<UInt64>.size
        if buffer.count < needed { buffer = [UInt8](repeating: 0, count: needed) }
        var bytes = buffer.mutableSpan
        var index = 0
        var end = 0
        while index < text.count {
            if let word = text.asciiWord(at: index) {
                let folded = isCaseInsensitive ? word.asciiLowercased : word
                bytes.store(folded, at: end)
                index += 8
                end += 8
            } else if text[index] < 0x80 {
                bytes[end] = isCaseInsensitive ? text[index].asciiLowercased : text[index]
                index += 1
                end += 1
            } else {
                guard let (scalar, length) = text.scalar(at: index) else { return nil }
                if let entryIndex = Self.entryIndex(scalar) {
                    let entry = entries[entryIndex]
                    guard entry != 0 else { return nil }
                    bytes.store(entry.littleEndian, at: end)
                    end += Int(entry >> 56)
                } else {
                    guard Self.isSimple(scalar) else { return nil }
                    for offset in 0..<length { bytes[end + offset] = text[index + offset] }
                    end += length
                }
                index += length
            }
        }
        return end
    }
}

extension Span<UInt8> {
    /// Whether a character begins at an offset between two scalars; false also if that is not
    /// certain, because one of them is not simple.
    func isSimpleBoundary(_ offset: Int) -> Bool {
        if offset == 0 || offset == count { return true }
        if self[offset - 1] < 0x80, self[offset] < 0x80 {
            return self[offset - 1] != 0x0D || self[offset] != 0x0A
        }
        var start = offset - 1
        while start > 0, self[start] & 0xC0 == 0x80 { start -= 1 }
        guard let before = scalar(at: start), start + before.length == offset,
            let after = scalar(at: offset)
        else { return false }
        return FoldingTable.isSimple(before.scalar) && FoldingTable.isSimple(after.scalar)
    }

    var hasCarriageReturn: Bool {
        var index = 0
        while index + 8 <= count {
            let word = bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            if word.hasCarriageReturn { return true }
            index += 8
        }
        while index < count {
            if self[index] == 0x0D { return true }
            index += 1
        }
        return false
    }

    /// The scalar at an offset and the number of its bytes; nil for invalid UTF-8.
    func scalar(at index: Int) -> (scalar: UInt32, length: Int)? {
        let first = UInt32(self[index])
        if first < 0x80 { return (first, 1) }
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard first >= 0xC2, first < 0xF5, index + length <= count else { return nil }
        var scalar = first & (0x7F >> UInt32(length))
        for offset in 1..<length {
            let byte = UInt32(self[index + offset])
            guard byte & 0xC0 == 0x80 else { return nil }
            scalar = scalar << 6 | byte & 0x3F
        }
        // Not a longer form than necessary, and no surrogate.
        let least: UInt32 = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000
        guard scalar >= least, !(0xD800..<0xE000 ~= scalar), scalar < 0x110000 else { return nil }
        return (scalar, length)
    }

    /// Eight bytes from an offset on if all of them are ASCII; nil also if there are fewer.
    @inline(__always)
    func asciiWord(at index: Int) -> UInt64? {
        guard index + 8 <= count else { return nil }
        let word = bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
        return word & 0x8080_8080_8080_8080 == 0 ? word : nil
    }

    package var string: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}

extension MutableSpan<UInt8> {
    @inline(__always)
    fileprivate mutating func store(_ word: UInt64, at index: Int) {
        var memory = mutableBytes
        memory.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
    }
}

extension UInt64 {
    /// The highest bit of each byte.
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Eight times the same byte.
    @inline(__always)
    init(repeating byte: UInt8) { self = UInt64(byte) &* 0x0101_0101_0101_0101 }

    /// The highest bit of the first byte that is 0, and of no byte before it. Bits of later bytes
    /// may be set although they are 1.
    @inline(__always)
    var zeroBytes: UInt64 {
        let borrowed = self &- UInt64(repeating: 1)
        return borrowed & ~self & Self.highBits
    }

    /// Eight ASCII characters in lower case.
    @inline(__always)
    fileprivate var asciiLowercased: UInt64 {
        // The highest bit of each byte that is at least "A", and of each after "Z".
        let fromA = self &+ UInt64(repeating: 0x80 - UInt8(ascii: "A"))
        let afterZ = self &+ UInt64(repeating: 0x7F - UInt8(ascii: "Z"))
        let capitals = fromA & ~afterZ & Self.highBits
        return self | capitals >> 2
    }

    /// Whether one of eight bytes is CR.
    @inline(__always)
    var hasCarriageReturn: Bool { (self ^ UInt64(repeating: 0x0D)).zeroBytes != 0 }
}

extension UInt8 {
    @inline(__always)
    fileprivate var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self
    }
}
