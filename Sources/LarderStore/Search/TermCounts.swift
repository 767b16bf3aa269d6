import LarderModel
import LarderQuery

/// The occurrences of the terms of a search in the columns of an index, for one row after the
/// other, in memory that is used for every row.
struct TermCounts {
    private var termCount = 0
    private var columnCount = 0
    /// For each term of each column.
    private var counts: [Int] = []
    /// How many words each column has at least, because an occurrence is the last of them.
    private var wordCountsMin: [Int] = []

    /// Replaces the counts by those of a row.
    ///
    /// FTS5 may still report excluded terms of an alternative that the row does not satisfy.
    ///
    /// - Parameter requiredTerms: See ``WordQuery/requiredTerms(of:)``.
    mutating func read(_ match: MatchedRow, _ requiredTerms: UInt64) {
        (termCount, columnCount) = (match.phraseCount, match.columnCount)
        if counts.count < termCount * columnCount {
            counts = [Int](repeating: 0, count: termCount * columnCount)
        }
        if wordCountsMin.count < columnCount {
            wordCountsMin = [Int](repeating: 0, count: columnCount)
        }
        for index in 0..<termCount * columnCount { counts[index] = 0 }
        for column in 0..<columnCount { wordCountsMin[column] = 0 }
        for term in 0..<termCount where requiredTerms >> UInt64(term) & 1 == 1 {
            match.forEachInstance(ofPhrase: term) { column, wordIndex in
                guard column < columnCount else { return }
                counts[column * termCount + term] += 1
                wordCountsMin[column] = max(wordCountsMin[column], wordIndex + 1)
            }
        }
    }

    /// The greatest score that the row may have: its score if the texts end with the occurrences.
    var scoreMax: Double {
        var score = SearchScore()
        for column in 0..<columnCount {
            add(column, wordCount: wordCountsMin[column], to: &score)
        }
        return score.value
    }

    /// - Parameter sizes: The number of words in each column, as SQLite's variable-length integers.
    func score(sizes: Span<UInt8>) -> Double {
        var score = SearchScore()
        var (column, wordCount) = (0, 0)
        for index in sizes.indices where column < columnCount {
            // Seven bits per byte, the highest first. Limits of texts keep it below nine bytes.
            wordCount = wordCount << 7 | Int(sizes[index] & 0x7F)
            guard sizes[index] < 0x80 else { continue }
            add(column, wordCount: wordCount, to: &score)
            (column, wordCount) = (column + 1, 0)
        }
        return score.value
    }

    private func add(_ column: Int, wordCount: Int, to score: inout SearchScore) {
        for term in 0..<termCount where counts[column * termCount + term] > 0 {
            score.add(occurrences: counts[column * termCount + term], wordCount: wordCount)
        }
    }
}
