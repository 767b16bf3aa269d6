import LarderModel

/// A search text prepared for many objects: which of them have its words, and how well.
///
/// The words of all terms are the bits of one number. For each word of a text, the state has the
/// bits of the words up to which a term has been found: it is shifted by one and limited to the
/// query's words that are equal to the text's.
///
/// Used by one thread at a time.
package final class WordSearch {
    /// A word of the search text.
    private struct Pattern {
        let bytes: [UInt8]
        let isPrefix: Bool
    }

    private let patterns: [Pattern]
    /// The patterns by their first byte.
    private let patternsByByte: [UInt64]
    /// The bits of the words with which the terms begin and end.
    private let firsts: UInt64
    private let lasts: UInt64
    /// The index of the term that ends with a word, and the number of words of each term.
    private let termOfWord: [Int]
    let termLengths: [Int]
    private let alternatives: [(required: Range<Int>, excluded: Range<Int>)]
    private var scanner = WordScanner()
    /// The occurrences of the terms in the text that is read.
    private var counts: [Int]
    private var isFound: [Bool]
    private var scores: [SearchScore]

    package init(_ text: SearchText) {
        var patterns: [Pattern] = []
        var byByte = [UInt64](repeating: 0, count: 256)
        var (firsts, lasts): (UInt64, UInt64) = (0, 0)
        var termOfWord: [Int] = []
        var lengths: [Int] = []
        var alternatives: [(required: Range<Int>, excluded: Range<Int>)] = []
        func add(_ term: SearchText.Term) {
            firsts |= 1 << UInt64(patterns.count)
            for (index, word) in term.words.enumerated() {
                let bit: UInt64 = 1 << UInt64(patterns.count)
                if let byte = word.first { byByte[Int(byte)] |= bit }
                patterns.append(
                    Pattern(
                        bytes: word, isPrefix: term.isPrefix && index == term.words.count - 1))
                termOfWord.append(lengths.count)
            }
            lasts |= 1 << UInt64(patterns.count - 1)
            lengths.append(term.words.count)
        }
        for alternative in text.alternatives {
            let start = lengths.count
            alternative.required.forEach(add)
            let middle = lengths.count
            alternative.excluded.forEach(add)
            alternatives.append((start..<middle, middle..<lengths.count))
        }
        self.patterns = patterns
        patternsByByte = byByte
        (self.firsts, self.lasts) = (firsts, lasts)
        self.termOfWord = termOfWord
        termLengths = lengths
        self.alternatives = alternatives
        counts = [Int](repeating: 0, count: lengths.count)
        isFound = [Bool](repeating: false, count: lengths.count)
        scores = [SearchScore](repeating: SearchScore(), count: lengths.count)
    }

    /// Begins another object.
    package func begin() {
        for term in counts.indices {
            isFound[term] = false
            scores[term] = SearchScore()
        }
    }

    /// Reads one text of the object.
    package func read(_ text: Span<UInt8>, _ interruption: Interruption = .never) {
        for term in counts.indices { counts[term] = 0 }
        let wordCount = occurrences(in: text, interruption) { counts[$0] += 1 }
        for (term, count) in counts.enumerated() where count > 0 {
            isFound[term] = true
            scores[term].add(occurrences: count, wordCount: wordCount)
        }
    }

    /// Whether the texts of the object that were read satisfy the search.
    package var holds: Bool { alternatives.contains(where: holds) }

    /// The score of the object; 0 if it does not satisfy the search.
    package var score: Double {
        var sum = SearchScore()
        for alternative in alternatives where holds(alternative) {
            for term in alternative.required { sum.add(scores[term]) }
        }
        return sum.value
    }

    private func holds(_ alternative: (required: Range<Int>, excluded: Range<Int>)) -> Bool {
        alternative.required.allSatisfy { isFound[$0] }
            && !alternative.excluded.contains { isFound[$0] }
    }

    /// Whether a term is looked for, not excluded.
    func isRequired(_ term: Int) -> Bool {
        alternatives.contains { $0.required.contains(term) }
    }

    /// Calls the closure for each occurrence of a term, after its last word, and `onWord` after
    /// each word with its range.
    ///
    /// - Returns: The number of words.
    @discardableResult
    func occurrences(
        in text: Span<UInt8>, _ interruption: Interruption,
        onWord: (Range<Int>) -> Void = { _ in }, onTerm: (Int) -> Void
    ) -> Int {
        var interruption = interruption
        var state: UInt64 = 0
        var wordCount = 0
        scanner.begin()
        while scanner.next(in: text, &interruption) {
            wordCount += 1
            onWord(scanner.range)
            state = (state << 1 | firsts) & matches(scanner.word)
            var ends = state & lasts
            while ends != 0 {
                onTerm(termOfWord[ends.trailingZeroBitCount])
                ends &= ends - 1
            }
        }
        return wordCount
    }

    /// The bits of the query's words that are equal to a word, or its beginning.
    @inline(__always)
    private func matches(_ word: [UInt8]) -> UInt64 {
        guard let first = word.first else { return 0 }
        var candidates = patternsByByte[Int(first)]
        var equal: UInt64 = 0
        while candidates != 0 {
            let index = candidates.trailingZeroBitCount
            let pattern = patterns[index]
            if pattern.isPrefix ? word.starts(with: pattern.bytes) : word == pattern.bytes {
                equal |= 1 << UInt64(index)
            }
            candidates &= candidates - 1
        }
        return equal
    }
}

/// The score of an object for a search: how often its texts have the terms, with less for each
/// further occurrence and for longer texts.
///
/// A text of `n` words that has a term `f` times adds `2.2 f / (f + 0.3 + 0.009 n)`. This is BM25
/// with its usual constants, a mean length of 100 words, and no weight for rare words: so the score
/// depends on the object alone, and a change of another object does not move it.
package struct SearchScore: Hashable, Sendable {
    /// In units of 2^-32, so that the order of the terms and texts does not matter.
    private var units: UInt64 = 0
    private static let unitsPerPoint = 4_294_967_296.0

    package init() {}

    package mutating func add(occurrences: Int, wordCount: Int) {
        let occurrences = Double(occurrences)
        let points = 2.2 * occurrences / (occurrences + 0.3 + 0.009 * Double(wordCount))
        units &+= UInt64(points * Self.unitsPerPoint)
    }

    mutating func add(_ other: SearchScore) { units &+= other.units }

    package var value: Double { Double(units) / Self.unitsPerPoint }
}
