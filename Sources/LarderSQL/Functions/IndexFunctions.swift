import LarderModel

/// The functions that compute the keys and terms of indexes from texts.
///
/// SQLite calls them whenever a row is written, so that every connection has them. No budget stops
/// them, because an index must not get a part of a text.
package enum IndexFunctions {
    /// `larder_canonical(text)`: the text without case and accents.
    package static let canonical = "larder_canonical"
    /// `larder_caseless(text)`: the text without case, by which `:caseinsensitive` sorts first.
    package static let caseless = "larder_caseless"
    /// `larder_search_form(text)`: the text as an index of its parts has it.
    package static let searchForm = "larder_search_form"

    /// `larder_word_form(text)`: the text's words as an index of words has them.
    package static let wordForm = "larder_word_form"
}

extension Comparison.Options {
    /// `[cd]`.
    package static let insensitive: Comparison.Options = [.caseInsensitive, .diacriticInsensitive]
}
