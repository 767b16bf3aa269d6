public import FoundationEssentials
import LarderModel

// Methods of strings that `#Predicate` supports and FoundationEssentials lacks. They compare as the
// store does, so a predicate selects the same objects in memory. If Foundation is imported, code
// outside of predicates uses Foundation's methods of these names.

extension String {
    /// Whether this string contains the other one, ignoring case and diacritics: `CONTAINS[cd]`.
    @_disfavoredOverload
    public func localizedStandardContains(_ other: String) -> Bool {
        canonical.containsCharacters(of: other.canonical)
    }

    /// The order of both strings by Unicode scalars, ignoring case: `<[c]`, `==[c]`, `>[c]`.
    @_disfavoredOverload
    public func caseInsensitiveCompare(_ other: String) -> ComparisonResult {
        withoutCase.order(comparedTo: other.withoutCase)
    }

    /// An order for people, which is the same on every machine: ignoring case and diacritics, then
    /// ignoring case, then of the strings themselves. Only equal strings are `orderedSame`.
    @_disfavoredOverload
    public func localizedCompare(_ other: String) -> ComparisonResult {
        let orders = [
            canonical.order(comparedTo: other.canonical),
            withoutCase.order(comparedTo: other.withoutCase),
        ]
        return orders.first { $0 != .orderedSame } ?? order(comparedTo: other)
    }

    private var canonical: String {
        folded(caseInsensitive: true, diacriticInsensitive: true)
    }

    private var withoutCase: String {
        folded(caseInsensitive: true, diacriticInsensitive: false)
    }

    private func order(comparedTo other: String) -> ComparisonResult {
        self < other ? .orderedAscending : self == other ? .orderedSame : .orderedDescending
    }
}
