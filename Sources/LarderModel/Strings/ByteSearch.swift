/// Finds a sequence of bytes in many texts.
///
/// Eight offsets of a text are tested at once for the two rarest bytes of the part. If too many of
/// them pass that test and do not match, the rest of the text is searched with `PartSearch`, so
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
        let firstBytes = UInt64(repeating: part[first])
        let secondBytes = UInt64(repeating: part[second])
        let bytes = text.bytes
        /// The comparisons of bytes that may fail before the search continues in another way.
        var comparisonsLeft = 4 * (text.count - start) + 1_024
        var position = start
        let last = text.count - part.count
        let wordsEnd = text.count - max(first, second) - 8
        while position <= last {
            if interruption.isDue(after: 8) { return nil }
            guard position <= wordsEnd else {
                if isPart(text, at: position, &comparisonsLeft) { return position }
                position += 1
                continue
            }
            // A byte is 0 where both bytes of the part occur.
            let firstWord = bytes.unsafeLoadUnaligned(
                fromByteOffset: position + first, as: UInt64.self)
            let secondWord = bytes.unsafeLoadUnaligned(
                fromByteOffset: position + second, as: UInt64.self)
            let difference = (firstWord ^ firstBytes) | (secondWord ^ secondBytes)
            var zeros = UInt64(littleEndian: difference.zeroBytes)
            while zeros != 0 {
                let candidate = position + zeros.trailingZeroBitCount / 8
                if candidate <= last, isPart(text, at: candidate, &comparisonsLeft) {
                    return candidate
                }
                zeros &= zeros &- 1
            }
            position += 8
            if comparisonsLeft < 0 { return linearOffset(in: text, from: position, &interruption) }
        }
        return nil
    }

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
