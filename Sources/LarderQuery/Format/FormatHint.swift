import LarderModel

/// The hint for a word or a character of SQL, Swift or another language that format
/// strings do not have.
///
/// The text is rejected with or without a hint: a format string has one spelling for each operator.
package enum FormatHint {
    static let quotes = "text is written in quotation marks, as in `name == \"Ann\"`"
    package static let date = "write a date in quotation marks: \"2026-01-31\""
    static let largeInteger = "to compare with a decimal, write a fraction, as in `10.0`"
    static let bars = "`||` is OR; write `concat(a, b)` to join texts"
    static let countedSubquery = "compare its count, as in SUBQUERY(…).@count > 0"

    /// The hint for a word in the position of an operator or after a comparison.
    static func word(_ word: String) -> String? {
        word.utf8.count <= 16 ? words[word.uppercased()] : nil
    }

    /// The hint for a first word of a predicate that was read as a key path.
    static func firstWord(_ word: String) -> String? {
        word.utf8.count <= 16 ? firstWords[word.uppercased()] : nil
    }

    /// The hint for the characters that no token begins with; nil if there is none.
    static func character(_ rest: ArraySlice<UInt8>) -> String? {
        characters.first { rest.starts(with: $0.text.utf8) }?.hint
    }

    /// Whether the bytes begin with a date such as `2026-01-31`, which would be read as two
    /// subtractions.
    static func beginsWithDate(_ rest: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(rest.prefix(11))
        guard bytes.count >= 10, bytes[4] == bytes[7],
            bytes[4] == UInt8(ascii: "-") || bytes[4] == UInt8(ascii: "/"),
            [0, 1, 2, 3, 5, 6, 8, 9].allSatisfy({ bytes[$0].isASCIIDigit }),
            bytes.count == 10 || !bytes[10].isASCIIDigit
        else { return false }
        func number(_ index: Int) -> Int {
            Int(bytes[index] - UInt8(ascii: "0")) * 10 + Int(bytes[index + 1] - UInt8(ascii: "0"))
        }
        return 1...12 ~= number(5) && 1...31 ~= number(8)
    }

    /// The hint for a name after the key path of an attribute: `title.length` is `length(title)`.
    package static func function(named name: String, of path: some Sequence<String>) -> String? {
        guard let function = FormatFunction.oneOperand(name) else { return nil }
        return "write `\(function)(\(path.joined(separator: ".")))`"
    }

    /// The hint for a name after the key path of a to-many relationship: `tracks.count` is
    /// `tracks.@count`.
    package static func aggregate(named name: String, of path: some Sequence<String>) -> String? {
        guard let function = FormatFunction.aggregate(name) else { return nil }
        let collection = path.joined(separator: ".")
        return function == .count
            ? "write `\(collection).@count`"
            : "write `\(collection).@\(function.collectionOperator)` and then a property"
    }

    /// The aggregate function that a word of SQL or of a format string means; nil if there is none.
    package static func aggregateFunction(_ word: String) -> AggregateFunction? {
        FormatFunction.aggregate(word)
    }

    private static let pattern =
        "write MATCHES with a regular expression, or LIKE with the wildcards `*` and `?`"
    private static let order = "the order is a sort key of the query, not part of an expression"
    private static let clause = "groups and limits are parts of the query, not of an expression"

    private static let words: [String: String] = [
        "NOT": "write NOT before the comparison, as in `NOT name IN {\"a\", \"b\"}`",
        "ILIKE": "write `LIKE[c]`",
        "REGEXP": pattern, "REGEX": pattern, "RLIKE": pattern, "GLOB": pattern, "SIMILAR": pattern,
        "STARTSWITH": "write BEGINSWITH", "STARTS": "write BEGINSWITH",
        "BEGINS": "write BEGINSWITH", "HASPREFIX": "write BEGINSWITH",
        "ENDS": "write ENDSWITH", "HASSUFFIX": "write ENDSWITH",
        "INCLUDES": "write CONTAINS", "HAS": "write CONTAINS",
        "EQ": "write `==`", "EQUALS": "write `==`", "NE": "write `!=`", "LT": "write `<`",
        "GT": "write `>`", "LE": "write `<=`", "LTE": "write `<=`", "GE": "write `>=`",
        "GTE": "write `>=`", "XOR": "write `!=` between two predicates in parentheses",
        "DIV": "write `/`", "MOD": "write `modulus(a, b)`",
        "ASC": order, "DESC": order, "ASCENDING": order, "DESCENDING": order, "ORDER": order,
        "GROUP": clause, "HAVING": clause, "LIMIT": clause, "OFFSET": clause,
        "AS": "the name of a column is given with the query, not in its expression",
        "COLLATE": "write the options after the operator, as in `==[c]`",
        "ESCAPE": "a backslash escapes a wildcard of LIKE",
    ]

    private static let firstWords: [String: String] = [
        "WHERE": "omit WHERE", "SELECT": "write the predicate alone",
        "CASE": "write `ternary(predicate, a, b)`", "IF": "write `ternary(predicate, a, b)`",
        "EXISTS": "write `articles.@count > 0`, or a SUBQUERY",
        "DATE": date, "TIMESTAMP": date, "INTERVAL": "add a number of seconds to the date",
    ]

    private static let argument =
        "write `%@` for an argument, or `$name` for a variable of the query"
    private static let straight = "write text in straight quotation marks: \"…\" or '…'"

    private static let characters: [(text: String, hint: String)] = [
        ("“", straight), ("”", straight), ("„", straight), ("‘", straight), ("’", straight),
        ("«", straight), ("»", straight),
        ("`", "write text in quotation marks and names without them"),
        ("?", argument), (":", argument),
        ("~", "write MATCHES for a regular expression"), (";", "omit the semicolon"),
        ("&", "write AND, or `bitwiseAnd(a, b)`"), ("|", "write OR, or `bitwiseOr(a, b)`"),
        ("^", "a power is `a ** b`, an exclusive or `bitwiseXor(a, b)`"),
        ("≤", "write `<=`"), ("≥", "write `>=`"), ("≠", "write `!=`"),
        ("−", "write `-`"), ("×", "write `*`"), ("÷", "write `/`"),
    ]
}
