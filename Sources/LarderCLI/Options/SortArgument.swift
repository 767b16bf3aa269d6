import ArgumentParser
import LarderModel

/// An expression and what is said of its order, in any sequence: `published:desc:nilslast`. What
/// stands in front may hold a colon itself, as an aggregate's `sum:wordCount` does.
struct SortArgument: ExpressibleByArgument {
    /// The expression as it was typed.
    let text: String
    let key: SortKey

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

    /// The texts that errors may be about, by the names that they have there.
    static func texts(_ keys: [SortArgument]) -> [(name: String, text: String)] {
        keys.enumerated().map { index, key in ("sort key \(index + 1)", key.text) }
    }
}
