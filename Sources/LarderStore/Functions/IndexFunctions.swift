import LarderModel

/// The functions in the expressions of indexes: the forms in which `[cd]` and `[c]` compare texts.
///
/// SQLite calls them whenever a row is written, so that every connection has them. No budget stops
/// them, because an index must not get a part of a text.
enum IndexFunctions {
    /// `larder_canonical(text)`: the text without case and accents.
    static let canonical = "larder_canonical"
    /// `larder_caseless(text)`: the text without case, by which `:caseinsensitive` sorts first.
    static let caseless = "larder_caseless"

    static func register(on connection: Connection) throws(SQLiteError) {
        let functions = [
            (canonical, Comparison.Options.insensitive), (caseless, .caseInsensitive),
        ]
        for (name, options) in functions {
            try connection.registerScalar(name: name, argumentCount: 1, isBounded: false) {
                arguments in
                if arguments[0].isNull { return .null }
                return .text(StringFunctions.folded(arguments[0].string, options))
            }
        }
    }
}

extension Comparison.Options {
    /// `[cd]`.
    static let insensitive: Comparison.Options = [.caseInsensitive, .diacriticInsensitive]
}
