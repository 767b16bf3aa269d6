import ArgumentParser
import LarderModel

/// An expression and what is said of its order, in any sequence: `published:desc:nilslast`. What
/// stands in front may hold a colon itself, as an aggregate's `sum:wordCount` does.
struct SortArgument: ExpressibleByArgument {
    /// The expression as it was typed.
    let text: String
    let key: SortKey
    static let suffixes =
        ":asc or :desc, :nilsfirst or :nilslast, :caseinsensitive or :localized, each once"

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

    /// What stands behind a colon that no fetch understands: `dsc` in `title:dsc`.
    var unknownSuffix: Substring? { ExpressionText(text).lastColon.map { text[$0...].dropFirst() } }

    /// The texts that errors may be about, by the names that they have there.
    static func texts(_ keys: [SortArgument]) -> [(name: String, text: String)] {
        keys.enumerated().map { index, key in ("sort key \(index + 1)", key.text) }
    }
}
