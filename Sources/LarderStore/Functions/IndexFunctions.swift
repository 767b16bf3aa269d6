import LarderModel
import LarderQuery

/// The functions that compute the keys and terms of indexes from texts.
///
/// SQLite calls them whenever a row is written, so that every connection has them. No budget stops
/// them, because an index must not get a part of a text.
enum IndexFunctions {
    /// `larder_canonical(text)`: the text without case and accents.
    static let canonical = "larder_canonical"
    /// `larder_caseless(text)`: the text without case, by which `:caseinsensitive` sorts first.
    static let caseless = "larder_caseless"
    /// `larder_search_form(text)`: the text as an index of its parts has it.
    static let searchForm = "larder_search_form"

    /// `larder_word_form(text)`: the text's words as an index of words has them.
    static let wordForm = "larder_word_form"

    static func register(on connection: Connection) throws(SQLiteError) {
        func register(
            _ name: String, _ form: @escaping (String) -> String
        ) throws(SQLiteError) {
            try connection.registerScalar(name: name, argumentCount: 1, isBounded: false) {
                $0[0].isNull ? .null : .text(form($0[0].string))
            }
        }
        try register(canonical) { StringFunctions.folded($0, .insensitive) }
        try register(caseless) { StringFunctions.folded($0, .caseInsensitive) }
        try register(searchForm) { SearchForm.form(of: $0) }
        try register(wordForm) { SearchText.wordForm(of: $0) }
    }
}

extension Comparison.Options {
    /// `[cd]`.
    static let insensitive: Comparison.Options = [.caseInsensitive, .diacriticInsensitive]
}
