import LarderModel

// The functions that take strings apart and put them together, by Swift's characters. They work on
// any length in linear time and end soon after an interruption; then the result is meaningless.
//
// ASCII strings without CR are handled as bytes, since each byte is a character.

extension String {
    // MARK: Parts

    /// The characters at the indexes from `start` on, at most `count`. A negative start is counted
    /// from the end. Indexes outside the string have no characters.
    func substring(
        from start: Int64, count: Int64?, _ interruption: Interruption
    ) -> String {
        var interruption = interruption
        var first = Int(start)
        if first < 0 { first += characterCount(&interruption) }
        let (sum, overflow) = first.addingReportingOverflow(Int(max(0, count ?? .max)))
        let end = overflow || count == nil ? Int.max : sum
        first = max(0, first)
        guard end > first else { return "" }
        let lower = index(startIndex, afterCharacters: first, &interruption)
        let upper =
            end == Int.max
            ? endIndex : index(lower, afterCharacters: end - first, &interruption)
        return String(self[lower..<upper])
    }

    private func characterCount(_ interruption: inout Interruption) -> Int {
        if isBytePerCharacter { return utf8.count }
        var count = 0
        for _ in self {
            if interruption.isDue() { break }
            count += 1
        }
        return count
    }

    /// The index that many characters after another one, or the end.
    private func index(
        _ start: Index, afterCharacters count: Int, _ interruption: inout Interruption
    ) -> Index {
        // No string has more characters than bytes, and a larger count would exceed an index.
        let count = min(count, utf8.count)
        if isBytePerCharacter {
            return utf8.index(start, offsetBy: count, limitedBy: endIndex) ?? endIndex
        }
        var index = start
        for _ in 0..<count {
            if index == endIndex || interruption.isDue() { break }
            index = self.index(after: index)
        }
        return index
    }

    /// The string without the white space, or without the characters of another string, at its
    /// start or end.
    func trimmed(
        of characters: String?, atStart: Bool, atEnd: Bool, _ interruption: Interruption
    ) -> String {
        var interruption = interruption
        let set = characters.map { Set($0) }
        var start: Index?
        var end = startIndex
        var index = startIndex
        // The end is found forward too: to find the previous character may take any number of
        // steps.
        while index < endIndex {
            if interruption.isDue() { break }
            let character = self[index]
            let isKept = !(set?.contains(character) ?? character.isWhitespace)
            if isKept, start == nil { start = index }
            index = self.index(after: index)
            if isKept { end = index }
            if isKept, !atEnd { break }
        }
        let lower = atStart ? start ?? endIndex : startIndex
        let upper = atEnd ? end : endIndex
        return lower < upper ? String(self[lower..<upper]) : ""
    }

    /// The first character of each word. Words are separated by white space.
    func initials(_ interruption: Interruption) -> String {
        var interruption = interruption
        var initials = ""
        var isInWord = false
        for character in self {
            if interruption.isDue() { break }
            if !isInWord, !character.isWhitespace { initials.append(character) }
            isInWord = !character.isWhitespace
        }
        return initials
    }

    /// The part at an index of the parts between separators. A negative index is counted from the
    /// end. Nil if there is no such part. An empty separator occurs nowhere.
    func part(at index: Int64, separatedBy separator: String, _ interruption: Interruption)
        -> String?
    {
        var wanted = index
        if wanted < 0 {
            wanted += 1
            forEachOccurrence(of: separator, interruption) { _ in
                wanted += 1
                return true
            }
            if wanted < 0 { return nil }
        }
        var start = startIndex
        var found: Range<Index>?
        var number: Int64 = 0
        forEachOccurrence(of: separator, interruption) { range in
            if number == wanted {
                found = start..<range.lowerBound
                return false
            }
            number += 1
            start = range.upperBound
            return true
        }
        if found == nil, number == wanted { found = start..<endIndex }
        return found.map { String(self[$0]) }
    }

    // MARK: Longer strings

    /// The string with each occurrence of a part replaced, from the start on. An empty part occurs
    /// nowhere. Nil if the result has more bytes than the limit.
    func replacing(
        _ part: String, with replacement: String, bytesMax: Int, _ interruption: Interruption
    ) -> String? {
        var replaced = ""
        var start = startIndex
        var isTooLong = false
        forEachOccurrence(of: part, interruption) { range in
            replaced += self[start..<range.lowerBound]
            replaced += replacement
            start = range.upperBound
            isTooLong = replaced.utf8.count > bytesMax
            return !isTooLong
        }
        guard !isTooLong else { return nil }
        if start == startIndex { return self }
        replaced += self[start...]
        return replaced.utf8.count > bytesMax ? nil : replaced.normalized(interruption)
    }

    /// The characters of a pattern, repeated, that are missing to a length; empty if there are
    /// none. Nil if they would have more bytes than the limit.
    func padding(
        to length: Int64, with pattern: String, bytesMax: Int, _ interruption: Interruption
    ) -> String? {
        var interruption = interruption
        let missing = Int(max(0, length)) - characterCount(&interruption)
        let patternCount = pattern.characterCount(&interruption)
        guard missing > 0, patternCount > 0 else { return "" }
        // A limit of bytes is one of characters too.
        guard missing <= bytesMax else { return nil }
        let (repeats, rest) = missing.quotientAndRemainder(dividingBy: patternCount)
        let bytes = (repeats + 1).multipliedReportingOverflow(by: pattern.utf8.count)
        guard !bytes.overflow, bytes.partialValue - pattern.utf8.count <= bytesMax else {
            return nil
        }
        var padding = ""
        padding.reserveCapacity(bytes.partialValue)
        for _ in 0..<repeats {
            if interruption.isDue(after: pattern.utf8.count) { break }
            padding += pattern
        }
        let end = pattern.index(pattern.startIndex, afterCharacters: rest, &interruption)
        return padding + pattern[..<end]
    }

    // MARK: Occurrences

    /// Calls a closure with each occurrence of a part, from the start on, until it returns false.
    /// Occurrences do not overlap.
    private func forEachOccurrence(
        of part: String, _ interruption: Interruption, _ body: (Range<Index>) -> Bool
    ) {
        if isBytePerCharacter, part.isBytePerCharacter {
            Self.forEachOccurrence(of: part.utf8, in: utf8, interruption, body)
        } else {
            Self.forEachOccurrence(of: part, in: self, interruption, body)
        }
    }

    private static func forEachOccurrence<Text: Collection<Element>, Element: Equatable>(
        of part: some Sequence<Element>, in text: Text, _ interruption: Interruption,
        _ body: (Range<Text.Index>) -> Bool
    ) {
        var interruption = interruption
        guard var search = PartSearch(part, &interruption) else { return }
        // The first of the elements that may begin an occurrence. It follows the search, because
        // the way back may be long.
        var start = text.startIndex
        var index = text.startIndex
        while index < text.endIndex {
            if interruption.isDue() { return }
            let candidates = search.matched + 1
            let isEnd = search.isEnd(text[index])
            index = text.index(after: index)
            if isEnd {
                guard body(start..<index) else { return }
                start = index
            } else {
                for _ in search.matched..<candidates { start = text.index(after: start) }
            }
        }
    }
}
