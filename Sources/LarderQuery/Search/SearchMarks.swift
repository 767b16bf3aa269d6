import LarderModel

/// Marks the words of a search in a text: the functions `highlight` and `snippet`.
package struct SearchMarks {
    private let search: WordSearch
    private let start: String
    private let end: String

    /// - Parameters:
    ///   - start: Written before a term that was found.
    ///   - end: Written after it.
    package init(_ search: WordSearch, start: String, end: String) {
        self.search = search
        self.start = start
        self.end = end
    }

    /// The text with marks around the terms of the search; nil if it would be too long.
    package func highlighted(_ text: String, _ interruption: Interruption = .never) -> String? {
        let bytes = Array(text.utf8)
        let found = Found(bytes, search, interruption)
        return marked(bytes, 0..<bytes.count, found)
    }

    /// A part of the text that has at most a number of words, from 1 to
    /// ``Limits/snippetWordsMax``, with marks around the terms of the
    /// search, and `…` where it was cut off; nil if it would be too long.
    ///
    /// It is the first part that has the most different terms, and of those the most terms.
    package func snippet(
        of text: String, words: Int, _ interruption: Interruption = .never
    ) -> String? {
        let bytes = Array(text.utf8)
        let found = Found(bytes, search, interruption)
        let count = min(max(1, words), Limits.snippetWordsMax)
        guard found.words.count > count else { return marked(bytes, 0..<bytes.count, found) }
        let first = found.bestWindow(ofWords: count)
        let last = first + count - 1
        let isStart = first == 0
        let isEnd = last == found.words.count - 1
        let start = isStart ? 0 : found.words[first].lowerBound
        let end = isEnd ? bytes.count : found.words[last].upperBound
        guard let marked = marked(bytes, start..<end, found) else { return nil }
        return (isStart ? "" : "…") + marked + (isEnd ? "" : "…")
    }

    private func marked(_ bytes: [UInt8], _ range: Range<Int>, _ found: Found) -> String? {
        var marked: [UInt8] = []
        var offset = range.lowerBound
        for part in found.merged where part.overlaps(range) {
            let part = part.clamped(to: range)
            marked += bytes[offset..<part.lowerBound]
            marked += start.utf8
            marked += bytes[part]
            marked += end.utf8
            offset = part.upperBound
            if marked.count > Limits.functionTextBytesMax { return nil }
        }
        marked += bytes[offset..<range.upperBound]
        guard marked.count <= Limits.functionTextBytesMax else { return nil }
        return String(decoding: marked, as: UTF8.self).normalized
    }
}

/// The words of a text and the terms of a search among them.
private struct Found {
    private(set) var words: [Range<Int>] = []
    /// The occurrences of terms, in the order in which they end.
    private var terms: [(words: ClosedRange<Int>, term: Int)] = []

    init(_ bytes: [UInt8], _ search: WordSearch, _ interruption: Interruption) {
        var words: [Range<Int>] = []
        var terms: [(words: ClosedRange<Int>, term: Int)] = []
        let isRequired = search.termLengths.indices.map(search.isRequired)
        search.occurrences(in: bytes.span, interruption) {
            words.append($0)
        } onTerm: { term in
            guard isRequired[term] else { return }
            let last = words.count - 1
            terms.append((last - search.termLengths[term] + 1...last, term))
        }
        (self.words, self.terms) = (words, terms)
    }

    /// The ranges of the terms, in order, as one if they overlap.
    var merged: [Range<Int>] {
        var merged: [Range<Int>] = []
        let ranges = terms.map { term in
            words[term.words.lowerBound].lowerBound..<words[term.words.upperBound].upperBound
        }
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, last.upperBound > range.lowerBound {
                let end = max(last.upperBound, range.upperBound)
                merged[merged.count - 1] = last.lowerBound..<end
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// The first word of the best part with a number of words, which is less than that of all.
    func bestWindow(ofWords count: Int) -> Int {
        var best = (different: 0, terms: 0, first: 0, last: 0)
        // A text with very many terms has a good part among the first ones.
        let terms = terms.prefix(1_024)
        for (index, start) in terms.enumerated() {
            let first = start.words.lowerBound
            var different = Set<Int>()
            var (inside, last) = (0, first)
            for term in terms[index...].prefix(count) where term.words.lowerBound >= first {
                guard term.words.upperBound < first + count else { break }
                different.insert(term.term)
                inside += 1
                last = max(last, term.words.upperBound)
            }
            if (different.count, inside) > (best.different, best.terms) {
                best = (different.count, inside, first, last)
            }
        }
        // In the middle of the part, with as many words before as after.
        let before = (count - (best.last - best.first + 1)) / 2
        return min(max(0, best.first - max(0, before)), words.count - count)
    }
}
