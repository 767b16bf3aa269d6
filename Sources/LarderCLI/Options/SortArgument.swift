import ArgumentParser
import LarderModel

/// A sort key: an expression and modifiers in any order, such as `published:desc:nilslast`. The
/// expression may contain a colon itself, as the aggregate column `sum:wordCount` does.
struct SortArgument {
    /// The expression, as typed.
    let text: String
    let key: SortKey
    static let modifiers =
        ":asc or :desc, :nilsfirst or :nilslast, :caseinsensitive or :localized"

    /// - Throws: `ValidationError`, a usage error that says what to write.
    init(_ argument: String) throws {
        try Self.check(argument)
        var text = argument[...]
        var isDescending: Bool?
        var nilPlacement: SortKey.NilPlacement?
        var stringOrder: StringOrder?
        scan: while let colon = text.lastIndex(of: ":") {
            switch text[text.index(after: colon)...] {
            case "asc" where isDescending == nil: isDescending = false
            case "desc" where isDescending == nil: isDescending = true
            case "nilsfirst" where nilPlacement == nil: nilPlacement = .first
            case "nilslast" where nilPlacement == nil: nilPlacement = .last
            case "caseinsensitive" where stringOrder == nil: stringOrder = .caseInsensitive
            case "localized" where stringOrder == nil: stringOrder = .localizedStandard
            default: break scan
            }
            text = text[..<colon]
        }
        guard !text.isEmpty else { throw ValidationError("an expression is missing") }
        self.text = String(text)
        self.key = SortKey(
            self.text, descending: isDescending ?? false, nilPlacement: nilPlacement ?? .standard,
            stringOrder: stringOrder ?? .plain)
    }

    /// Parses a list of sort keys, separated by commas.
    static func list(_ argument: String) throws -> [SortArgument] {
        try ExpressionSplitter(argument).parts.map { try SortArgument($0) }
    }

    /// Rejects the ways in which other programs write a descending order.
    private static func check(_ argument: String) throws {
        guard !argument.hasPrefix("--") else {
            throw ValidationError("an expression is missing before \(argument)")
        }
        let name = argument.dropFirst()
        if argument.hasPrefix("-"), name.first?.isLetter == true,
            name.allSatisfy({ $0.isLetter || $0.isNumber || "_.:".contains($0) })
        {
            throw ValidationError(
                "write `\(name):desc` for the descending order, or `(-\(name))` for the negative "
                    + "number")
        }
        guard let (left, word) = ExpressionSplitter(argument).lastWord else { return }
        switch word.lowercased() {
        case "asc", "ascending": throw ValidationError("write `\(left):asc`")
        case "desc", "descending": throw ValidationError("write `\(left):desc`")
        default: return
        }
    }

    /// An unknown or repeated modifier: `dsc` in `title:dsc`.
    var unknownModifier: Substring? {
        ExpressionSplitter(text).lastColon.map { text[$0...].dropFirst() }
    }

    /// The expressions, each with the name that error messages use.
    static func texts(_ keys: [SortArgument]) -> [(name: String, text: String)] {
        keys.enumerated().map { index, key in ("sort key \(index + 1)", key.text) }
    }
}
