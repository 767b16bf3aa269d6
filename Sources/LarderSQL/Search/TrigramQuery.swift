import LarderModel
import LarderQuery

/// The query of a ``SearchTable`` for the texts for which an operator of strings may hold.
package enum TrigramQuery {
    /// More terms make the query slower than they make its result shorter.
    private static let termsMax = 16

    /// The query in FTS5's language: terms that a text must all have. nil if the pattern requires
    /// no three characters that follow each other.
    ///
    /// - Parameter pattern: The right side of the comparison, without what the options ignore.
    package static func text(
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
            var scalars = String.UnicodeScalarView()
            scalars.append(contentsOf: texts[text][index..<index + SearchTable.termLength])
            let term = String(scalars)
            if !terms.contains(term) { terms.append(term) }
        }
        return self.text(of: terms)
    }

    /// The query for texts that have all of these terms.
    package static func text(of terms: [String]) -> String {
        terms.map(quoted).joined(separator: " ")
    }

    /// The terms of a query.
    package static func terms(of query: String) -> [String] {
        var terms: [String] = []
        var rest = Substring(query).unicodeScalars
        // After a quotation mark a term has three characters, of which quotation marks are doubled.
        while rest.popFirst() != nil {
            var term = String.UnicodeScalarView()
            while term.count < SearchTable.termLength, let scalar = rest.popFirst() {
                term.append(scalar)
                if scalar == "\"" { _ = rest.popFirst() }
            }
            terms.append(String(term))
            rest = rest.dropFirst(2)
        }
        return terms
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
    private static func quoted(_ term: String) -> String {
        var quoted = "\"".unicodeScalars
        for scalar in term.unicodeScalars {
            if scalar == "\"" { quoted.append(scalar) }
            quoted.append(scalar)
        }
        quoted.append("\"")
        return String(quoted)
    }
}
