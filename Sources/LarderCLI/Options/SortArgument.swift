import ArgumentParser
import LarderModel

/// A sort key: an expression and modifiers in any order, such as `published:desc:nilslast`. The
/// expression may contain a colon itself, as the aggregate column `sum:wordCount` does.
struct SortArgument: ExpressibleByArgument {
    /// The expression, as typed.
    let text: String
    let key: SortKey
    static let modifiers =
        ":asc or :desc, :nilsfirst or :nilslast, :caseinsensitive or :localized"

    init?(argument: String) {
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
        guard !text.isEmpty else { return nil }
        self.text = String(text)
        self.key = SortKey(
            self.text, descending: isDescending ?? false, nilPlacement: nilPlacement ?? .standard,
            stringOrder: stringOrder ?? .plain)
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
