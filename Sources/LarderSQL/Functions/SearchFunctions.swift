import LarderModel
import LarderQuery

/// The functions of searches for words. `LarderQuery/Search` defines their results.
package enum SearchFunctions {
    /// `larder_search(text, …, search)`: whether the texts have the words of a search text.
    package static let search = "larder_search"
    /// `larder_score(text, …, search)`: how well they match it.
    package static let score = "larder_score"
    /// `larder_highlight(text, search, start, end)`
    package static let highlight = "larder_highlight"
    /// `larder_snippet(text, search, words, start, end)`
    package static let snippet = "larder_snippet"

    /// `larder_match_score(index, terms, sizes)`: the score of the row that an index of words has
    /// found, given the required terms and the numbers of words that FTS5 has stored for the row.
    package static let matchScore = "larder_match_score"
    /// `larder_page_score(index, terms, count[, sizes])`: the same for the first rows by score.
    /// Without the sizes, whether the row may be among this number of rows; see ``PageScores``.
    package static let pageScore = "larder_page_score"

    /// `larder_selective_terms(index, query)`: the query without the terms that are not worth their
    /// lists; see ``TermSelection``.
    package static let selectiveTerms = "larder_selective_terms"

    package static func name(of function: ScalarFunction) -> String? {
        switch function {
        case .search: search
        case .score: score
        case .highlight: highlight
        case .snippet: snippet
        default: nil
        }
    }
}
