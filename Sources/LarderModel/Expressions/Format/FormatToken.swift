/// The smallest part of a format string that means something, and where it begins.
struct FormatToken: Hashable {
    enum Kind: Hashable {
        /// A name or a keyword; `#name` is escaped, and then never a keyword.
        case name(String, isEscaped: Bool)
        /// `$name`.
        case variable(String)
        /// `@name`.
        case collectionOperator(String)
        case string(String)
        /// Without its sign, which is a token of its own.
        case integer(UInt64)
        case double(Double)
        /// `%@` and its kin.
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
    /// The byte of the text at which the token begins.
    var start: Int

    /// The keyword that an unescaped name is, if it is one.
    var keyword: FormatKeyword? {
        if case .name(let name, false) = kind { FormatKeyword(name) } else { nil }
    }

    var isNumber: Bool {
        switch kind {
        case .integer, .double: true
        default: false
        }
    }

    /// What was found, for sentences. Literals are not shown: they may be someone's data.
    var description: String {
        switch kind {
        case .name(let name, let isEscaped):
            "`\(isEscaped ? "#" : "")\(name.prefix(Limits.nameBytesMax))`"
        case .variable(let name): "`$\(name.prefix(Limits.nameBytesMax))`"
        case .collectionOperator(let name): "`@\(name.prefix(Limits.nameBytesMax))`"
        case .string: "a string"
        case .integer, .double: "a number"
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

/// The reserved words, written in capitals; a format string may write them in any case.
enum FormatKeyword: String, CaseIterable {
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

    /// The tokens that are written as words.
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
