import LarderModel
import LarderQuery

/// The query of an index of words for a search text, in FTS5's language.
///
/// Every term is a string in quotation marks whose words have letters and digits only, so nothing
/// of a search text is syntax there.
package enum WordQuery {
    /// - Parameter columns: The columns of the index that are searched; nil for all.
    package static func text(of search: SearchText, columns: [Int]?) -> String {
        let alternatives = search.alternatives.map { alternative in
            let required = joined(alternative.required, " AND ")
            guard !alternative.excluded.isEmpty else { return required }
            return "((\(required)) NOT (\(joined(alternative.excluded, " OR "))))"
        }
        let text =
            alternatives.count == 1
            ? alternatives[0]
            : alternatives.map { "(\($0))" }.joined(separator: " OR ")
        guard let columns else { return text }
        return "{\(columns.map { "c\($0)" }.joined(separator: " "))} : (\(text))"
    }

    /// The bits of the terms that a text must have, by their order in the query. The others are
    /// excluded, and do not count for a score. A search has at most 64 words, and so terms.
    package static func requiredTerms(of search: SearchText) -> UInt64 {
        var (bits, termCount): (UInt64, Int) = (0, 0)
        for alternative in search.alternatives {
            for term in termCount..<termCount + alternative.required.count { bits |= 1 << term }
            termCount += alternative.required.count + alternative.excluded.count
        }
        return bits
    }

    private static func joined(_ terms: [SearchText.Term], _ separator: String) -> String {
        terms.map { term in
            let words = term.words.map { String(decoding: $0, as: UTF8.self) }
            return "\"\(words.joined(separator: " "))\"" + (term.isPrefix ? " *" : "")
        }.joined(separator: separator)
    }
}
