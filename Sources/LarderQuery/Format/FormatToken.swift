import LarderModel

/// The smallest meaningful part of a format string, and its offset.
struct FormatToken: Hashable {
    enum Kind: Hashable {
        /// A name or a keyword; `#name` is escaped and never a keyword.
        case name(String, isEscaped: Bool)
        /// `$name`.
        case variable(String)
        /// `@name`.
        case collectionOperator(String)
        case string(String)
        /// The digits without the sign, which is a separate token.
        case integer(UInt64)
        /// A number with a fraction or an exponent: a double or a decimal.
        case fraction(Value)
        /// `%@` and its synonyms.
        case argument
        /// `%K`.
        case keyPathArgument
        case comparison(Comparison.Operator)
        case and
        case or
        case not
        /// `( ) { } [ ] , . + - * / **`
        case symbol(String)
        case end
    }

    var kind: Kind
    /// The byte offset of the token.
    var start: Int

    /// The keyword for an unescaped name; nil if the name is not reserved.
    var keyword: FormatKeyword? {
        if case .name(let name, false) = kind { FormatKeyword(name) } else { nil }
    }

    var isNumber: Bool {
        switch kind {
        case .integer, .fraction: true
        default: false
        }
    }

    /// The token as shown in error messages. Literals are not shown, since they may be user data.
    var description: String {
        switch kind {
        case .name(let name, let isEscaped):
            "`\(isEscaped ? "#" : "")\(name.prefix(Limits.nameBytesMax))`"
        case .variable(let name): "`$\(name.prefix(Limits.nameBytesMax))`"
        case .collectionOperator(let name): "`@\(name.prefix(Limits.nameBytesMax))`"
        case .string: "a string"
        case .integer, .fraction: "a number"
        case .argument: "an argument"
        case .keyPathArgument: "`%K`"
        case .comparison(let comparison): "`\(comparison.rawValue)`"
        case .and: "`AND`"
        case .or: "`OR`"
        case .not: "`NOT`"
        case .symbol(let symbol): "`\(symbol)`"
        case .end: "the end"
        }
    }
}

/// The reserved words in upper case. A format string may write them in any case.
package enum FormatKeyword: String, CaseIterable {
    case and = "AND"
    case or = "OR"
    case not = "NOT"
    case `in` = "IN"
    case between = "BETWEEN"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case contains = "CONTAINS"
    case like = "LIKE"
    case matches = "MATCHES"
    case any = "ANY"
    case someOf = "SOME"
    case all = "ALL"
    case noneOf = "NONE"
    case subquery = "SUBQUERY"
    case object = "SELF"
    case `true` = "TRUE"
    case yes = "YES"
    case `false` = "FALSE"
    case no = "NO"
    case null = "NULL"
    case `nil` = "NIL"
    case truePredicate = "TRUEPREDICATE"
    case falsePredicate = "FALSEPREDICATE"
    case union = "UNION"
    case intersect = "INTERSECT"
    case minus = "MINUS"

    init?(_ name: String) {
        guard name.utf8.count <= 14 else { return nil }
        self.init(rawValue: name.uppercased())
    }

    /// The operator token for a keyword; nil for other keywords.
    var token: FormatToken.Kind? {
        switch self {
        case .and: .and
        case .or: .or
        case .not: .not
        case .in, .between, .beginsWith, .endsWith, .contains, .like, .matches:
            Comparison.Operator(rawValue: rawValue).map { .comparison($0) }
        default: nil
        }
    }
}
