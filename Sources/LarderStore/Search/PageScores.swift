import LarderModel

/// The best scores of the rows that an index of words has found so far, for a page of the first
/// rows by score.
///
/// The number of words in each text is in another table of the index, on as many of its pages as
/// there are rows. A row whose score would be too low even with the shortest texts that have the
/// occurrences is not looked up there. FTS5 finds rows in the order of their keys, and of rows with
/// the same score the first ones are on the page.
final class PageScores {
    /// For a longer page every row is looked up.
    private static let rowsMax: Int64 = 256

    /// The number of rows on the page; nil for a longer page.
    private let rowCount: Int?
    private let requiredTerms: UInt64
    /// In ascending order.
    private var best: [Double] = []
    private var counts = TermCounts()
    /// The row of the counts.
    private var key: Int64?
    /// The last row whose score was added.
    private var addedKey: Int64?

    /// - Parameter requiredTerms: See ``WordQuery/requiredTerms(of:)``.
    init(rowCount: Int64, requiredTerms: UInt64) {
        self.rowCount = 1...Self.rowsMax ~= rowCount ? Int(rowCount) : nil
        self.requiredTerms = requiredTerms
    }

    /// Whether a row may be on the page.
    func mayInclude(_ match: MatchedRow) -> Bool {
        guard let rowCount else { return true }
        read(match)
        return best.count < rowCount || counts.scoreMax > best[0]
    }

    /// The score of a row, which is on the page so far if it is one of the best.
    func add(_ match: MatchedRow, sizes: Span<UInt8>) -> Double {
        read(match)
        let score = counts.score(sizes: sizes)
        // SQLite may ask for the score of a row more than once.
        guard let rowCount, addedKey != match.key else { return score }
        addedKey = match.key
        if best.count == rowCount {
            if score <= best[0] { return score }
            best.removeFirst()
        }
        best.insert(score, at: best.firstIndex { $0 > score } ?? best.count)
        return score
    }

    private func read(_ match: MatchedRow) {
        if key == match.key { return }
        counts.read(match, requiredTerms)
        key = match.key
    }
}
