import LarderModel

/// The query of a ``SearchTable`` for the texts for which an operator of strings may hold.
enum TrigramQuery {
    /// More terms make the query slower than they make its result shorter.
    private static let termsMax = 16

    /// The query in FTS5's language: terms that a text must all have. nil if the pattern requires
    /// no three characters that follow each other.
    ///
    /// - Parameter pattern: The right side of the comparison, without what the options ignore.
    static func text(
        of pattern: String, _ comparison: Comparison.Operator, _ options: Comparison.Options
    ) -> String? {
        let texts = requiredTexts(of: pattern, comparison).flatMap { text in
            forms(of: text, options)
        }
        let counts = texts.map { max(0, $0.count - SearchTable.termLength + 1) }
        let count = counts.reduce(0, +)
        guard count > 0 else { return nil }
        var terms: [String] = []
        let wanted = min(count, termsMax)
        for number in 0..<wanted {
            // Evenly distributed, the first and the last included.
            var index = wanted == 1 ? 0 : number * (count - 1) / (wanted - 1)
            var text = 0
            while index >= counts[text] {
                index -= counts[text]
                text += 1
            }
            let term = quoted(texts[text][index..<index + SearchTable.termLength])
            if !terms.contains(term) { terms.append(term) }
        }
        return terms.joined(separator: " ")
    }

    /// The texts that every string contains for which an operator of strings holds.
    private static func requiredTexts(
        of pattern: String, _ comparison: Comparison.Operator
    ) -> [String] {
        switch comparison {
        case .like: LikePattern(pattern).requiredTexts
        case .matches: RegularExpression.requiredTexts(of: pattern)
        default: [pattern]
        }
    }

    /// The parts of a required text that the index has, each as its characters.
    private static func forms(
        of text: String, _ options: Comparison.Options
    ) -> [[Unicode.Scalar]] {
        let form = Array(SearchForm.form(of: text).unicodeScalars)
        guard options.contains(.caseInsensitive), !options.contains(.diacriticInsensitive) else {
            return [form]
        }
        return form.split { $0 == SearchForm.foldedMark }.map(Array.init)
    }

    /// A string of the query language, in which a quotation mark is doubled.
    private static func quoted(_ term: ArraySlice<Unicode.Scalar>) -> String {
        var quoted = "\"".unicodeScalars
        for scalar in term {
            if scalar == "\"" { quoted.append(scalar) }
            quoted.append(scalar)
        }
        quoted.append("\"")
        return String(quoted)
    }
}
