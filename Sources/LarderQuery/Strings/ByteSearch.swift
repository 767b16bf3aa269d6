import LarderModel

/// Finds a sequence of bytes in many texts.
///
/// Sixteen offsets of a text are tested at once for the two rarest bytes of the part. If too many
/// of them pass that test and do not match, the rest of the text is searched with `PartSearch`, so
/// that the time is linear for every text and part.
package struct ByteSearch: Sendable {
    package let part: [UInt8]
    /// The offsets in the part of its two rarest bytes, which may be one.
    private let first: Int
    private let second: Int

    package init(_ part: [UInt8]) {
        self.part = part
        let byRank = part.indices.min { Self.rank(part[$0]) < Self.rank(part[$1]) }
        first = byRank ?? 0
        let others = part.indices.filter { [first] in $0 != first }
        second = others.min { Self.rank(part[$0]) < Self.rank(part[$1]) } ?? first
    }

    /// How frequent a byte is in texts, roughly; a greater number for a more frequent one.
    private static func rank(_ byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"):
            // From the rarest to the most frequent letter of European languages.
            100 + (letters.firstIndex(of: byte) ?? 0)
        case UInt8(ascii: " "): 200
        // The first byte of a scalar is that of its alphabet.
        case 0xC0...: 150
        case UInt8(ascii: "0")...UInt8(ascii: "9"): 60
        default: 30
        }
    }

    private static let letters = Array("xqjzykwvbfpgmhcudlotsrniae".utf8)

    /// The offset of the first occurrence from an offset on; nil without one, and after an
    /// interruption. An empty part occurs everywhere.
    package func offset(
        in text: Span<UInt8>, from start: Int, _ interruption: inout Interruption
    ) -> Int? {
        guard !part.isEmpty else { return start }
        let pair = BytePair(part[first], at: first, part[second], at: second)
        /// The comparisons of bytes that may fail before the search continues in another way.
        var comparisonsLeft = 4 * (text.count - start) + 1_024
        var position = start
        let last = text.count - part.count
        let wordsEnd = text.count - max(first, second) - 8
        while position <= last {
            let blockStart = position
            // Most offsets have neither byte. A look at the interruption takes as long as some.
            let blockEnd = min(wordsEnd - 8, position + Self.blockBytes)
            while position <= blockEnd, !pair.occurs(in: text, at: position) { position += 16 }
            if position > wordsEnd - 8, wordsEnd >= 8, !pair.occurs(in: text, at: wordsEnd - 8) {
                return nil
            }
            if interruption.isDue(after: max(8, position - blockStart)) { return nil }
            guard wordsEnd >= 0 else {
                if isPart(text, at: position, &comparisonsLeft) { return position }
                position += 1
                continue
            }
            // The last word may begin before the position.
            let word = min(position, wordsEnd)
            var occurrences = pair.occurrences(in: text, at: word)
            occurrences &= UInt64.max << UInt64(8 * (position - word))
            while occurrences != 0 {
                let candidate = word + occurrences.trailingZeroBitCount / 8
                if candidate <= last, isPart(text, at: candidate, &comparisonsLeft) {
                    return candidate
                }
                occurrences &= occurrences &- 1
            }
            position = word + 8
            if comparisonsLeft < 0 { return linearOffset(in: text, from: position, &interruption) }
        }
        return nil
    }

    private static let blockBytes = 1_024

    @inline(__always)
    private func isPart(
        _ text: Span<UInt8>, at offset: Int, _ comparisonsLeft: inout Int
    ) -> Bool {
        var index = 0
        while index < part.count, text[offset + index] == part[index] { index += 1 }
        comparisonsLeft -= index + 1
        return index == part.count
    }

    private func linearOffset(
        in text: Span<UInt8>, from start: Int, _ interruption: inout Interruption
    ) -> Int? {
        guard var search = PartSearch(part, &interruption) else { return nil }
        for index in start..<text.count {
            if interruption.isDue() { return nil }
            if search.isEnd(text[index]) { return index + 1 - part.count }
        }
        return nil
    }

    /// Whether the part is at an offset.
    func matches(_ text: Span<UInt8>, at offset: Int) -> Bool {
        guard offset >= 0, offset + part.count <= text.count else { return false }
        for index in part.indices where text[offset + index] != part[index] { return false }
        return true
    }
}

/// Two bytes at two offsets from the start of a part.
private struct BytePair {
    private typealias Block = SIMD16<UInt8>

    private let (first, second): (UInt64, UInt64)
    private let (firstBlock, secondBlock): (Block, Block)
    private let (firstOffset, secondOffset): (Int, Int)

    init(_ first: UInt8, at firstOffset: Int, _ second: UInt8, at secondOffset: Int) {
        (self.first, self.second) = (UInt64(repeating: first), UInt64(repeating: second))
        (firstBlock, secondBlock) = (Block(repeating: first), Block(repeating: second))
        (self.firstOffset, self.secondOffset) = (firstOffset, secondOffset)
    }

    /// Whether both bytes occur at one of sixteen offsets of a text.
    @inline(__always)
    func occurs(in text: Span<UInt8>, at offset: Int) -> Bool {
        let bytes = text.bytes
        let firsts = bytes.unsafeLoadUnaligned(
            fromByteOffset: offset + firstOffset, as: Block.self)
        let seconds = bytes.unsafeLoadUnaligned(
            fromByteOffset: offset + secondOffset, as: Block.self)
        return any((firsts .== firstBlock) .& (seconds .== secondBlock))
    }

    /// Eight offsets of a text, of which the highest bit of a byte says whether both bytes occur
    /// there. The bit may be set without them, but only after one where they do.
    @inline(__always)
    func occurrences(in text: Span<UInt8>, at offset: Int) -> UInt64 {
        let bytes = text.bytes
        let firstWord = bytes.unsafeLoadUnaligned(
            fromByteOffset: offset + firstOffset, as: UInt64.self)
        let secondWord = bytes.unsafeLoadUnaligned(
            fromByteOffset: offset + secondOffset, as: UInt64.self)
        return UInt64(littleEndian: (firstWord ^ first) | (secondWord ^ second)).zeroBytes
    }
}
