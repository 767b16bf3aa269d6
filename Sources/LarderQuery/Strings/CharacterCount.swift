import LarderModel

// The number of characters of a text. For simple scalars (see `FoldingTable`), sixteen bytes are
// counted at once.

extension Span<UInt8> {
    /// The number of Swift's characters.
    package var characterCount: Int { simpleCharacterCount ?? string.count }

    /// The number of characters; nil for a text with scalars that are not simple, or invalid UTF-8.
    var simpleCharacterCount: Int? {
        var index = 0
        var characterCount = 0
        while index < count {
            let isAfterReturn = index > 0 && self[index - 1] == 0x0D
            if !isAfterReturn, let word = asciiWord(at: index), !word.hasCarriageReturn {
                index += 8
                characterCount += 8
            } else if let block = simpleBlock(at: index) {
                index += block.length
                characterCount += block.characterCount
            } else {
                guard let few = simpleCharacters(from: index, isAfterReturn) else { return nil }
                index = few.end
                characterCount += few.count
            }
        }
        return characterCount
    }

    /// The simple scalars that begin in the next sixteen bytes, one by one; nil if there is another
    /// scalar or invalid UTF-8.
    ///
    /// - Parameter isAfterReturn: Whether a CR comes before.
    private func simpleCharacters(
        from start: Int, _ isAfterReturn: Bool
    ) -> (end: Int, count: Int)? {
        var isAfterReturn = isAfterReturn
        var index = start
        var characterCount = 0
        while index < Swift.min(count, start + SimpleBlock.byteCount) {
            // CR LF is one character.
            if !isAfterReturn || self[index] != 0x0A { characterCount += 1 }
            isAfterReturn = self[index] == 0x0D
            if let length = simpleLength(at: index) {
                index += length
            } else {
                guard let (scalar, length) = scalar(at: index), FoldingTable.isSimple(scalar)
                else { return nil }
                index += length
            }
        }
        return (index, characterCount)
    }

    /// The length of a simple scalar that is one by its first byte: most letters, and most Chinese
    /// characters and Hangul syllables. Nil for others and for invalid UTF-8.
    @inline(__always)
    private func simpleLength(at index: Int) -> Int? {
        let length: Int
        switch self[index] {
        case 0..<0x80: return 1
        case 0xC2...0xCB, 0xCE...0xD1, 0xD3...0xD5: length = 2
        case 0xE5...0xE9, 0xEB, 0xEC: length = 3
        default: return nil
        }
        guard index + length <= count, self[index + 1] & 0xC0 == 0x80,
            self[index + length - 1] & 0xC0 == 0x80
        else { return nil }
        return length
    }

    /// The whole scalars in the next sixteen bytes, if all are simple by their first bytes, as most
    /// letters, Chinese characters and Hangul syllables are; nil for others, for CR, for invalid
    /// UTF-8, and if there are fewer bytes.
    ///
    /// - Parameter index: Where a scalar begins, after a valid one.
    @inline(__always)
    private func simpleBlock(at index: Int) -> (length: Int, characterCount: Int)? {
        guard index >= 2, index + SimpleBlock.byteCount <= count else { return nil }
        let block = SimpleBlock(self, at: index)
        guard block.isSimple else { return nil }
        // The last scalar may end in the next block.
        if self[index + SimpleBlock.byteCount - 1] >= 0xC0 {
            return (SimpleBlock.byteCount - 1, block.scalarCount - 1)
        }
        if self[index + SimpleBlock.byteCount - 2] >= 0xE0 {
            return (SimpleBlock.byteCount - 2, block.scalarCount - 1)
        }
        return (SimpleBlock.byteCount, block.scalarCount)
    }
}

/// Sixteen bytes of a text, of which each is compared with the two bytes before it.
private struct SimpleBlock {
    private typealias Bytes = SIMD16<UInt8>
    static let byteCount = Bytes.scalarCount

    private let bytes: Bytes
    private let before: Bytes
    private let twoBefore: Bytes

    @inline(__always)
    init(_ text: Span<UInt8>, at index: Int) {
        let text = text.bytes
        bytes = text.unsafeLoadUnaligned(fromByteOffset: index, as: Bytes.self)
        before = text.unsafeLoadUnaligned(fromByteOffset: index - 1, as: Bytes.self)
        twoBefore = text.unsafeLoadUnaligned(fromByteOffset: index - 2, as: Bytes.self)
    }

    /// Whether all scalars of up to three bytes are simple, without CR before one of them, and each
    /// first byte is followed by as many others as it says.
    @inline(__always)
    var isSimple: Bool {
        let follows = (before .>= all(0xC0)) .| (twoBefore .>= all(0xE0))
        // C0, C1; CC, CD (marks) and D2; D6 to E3 (among them Hebrew, Arabic and Indic scripts, and
        // kana, which are simple but rarer); EE and greater.
        let isOther =
            ((bytes &- all(0xC0)) .<= all(0x01)) .| ((bytes &- all(0xCC)) .<= all(0x01))
            .| (bytes .== all(0xD2)) .| ((bytes &- all(0xD6)) .<= all(0x0D))
            .| (bytes .>= all(0xEE))
        // U+4DC0 to U+4DFF, U+A000 to U+ABFF, and from U+D780 on.
        let isOtherPair =
            ((before .== all(0xE4)) .& (bytes .== all(0xB7)))
            .| ((before .== all(0xEA)) .& (bytes .< all(0xB0)))
            .| ((before .== all(0xED)) .& (bytes .>= all(0x9E)))
        let isAfterReturn = before .== all(0x0D)
        return !any((continues .^ follows) .| isOther .| isOtherPair .| isAfterReturn)
    }

    /// The number of scalars that begin here.
    @inline(__always)
    var scalarCount: Int {
        Int(all(1).replacing(with: all(0), where: continues).wrappedSum())
    }

    /// Which bytes are not the first ones of scalars.
    @inline(__always)
    private var continues: SIMDMask<SIMD16<Int8>> { (bytes & all(0xC0)) .== all(0x80) }

    @inline(__always)
    private func all(_ byte: UInt8) -> Bytes { Bytes(repeating: byte) }
}
