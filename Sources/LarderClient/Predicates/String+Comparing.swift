public import FoundationEssentials
import LarderModel

// What `#Predicate` may ask of strings and FoundationEssentials lacks, with the store's meaning, so
// that a predicate selects the same objects in memory. Where Foundation itself is imported, its
// methods of these names are preferred outside of predicates.

extension String {
    /// Whether the other string occurs in this one, case and diacritics aside: `CONTAINS[cd]`.
    @_disfavoredOverload
    public func localizedStandardContains(_ other: String) -> Bool {
        canonical.containsCharacters(of: other.canonical)
    }

    /// The order of both strings without case, by Unicode scalars: `<[c]`, `==[c]`, `>[c]`.
    @_disfavoredOverload
    public func caseInsensitiveCompare(_ other: String) -> ComparisonResult {
        withoutCase.order(beside: other.withoutCase)
    }

    /// An order for people, the same on every machine: without case and diacritics first, then
    /// with diacritics, then the strings themselves. Only equal strings are the same.
    @_disfavoredOverload
    public func localizedCompare(_ other: String) -> ComparisonResult {
        let orders = [
            canonical.order(beside: other.canonical),
            withoutCase.order(beside: other.withoutCase),
        ]
        return orders.first { $0 != .orderedSame } ?? order(beside: other)
    }

    private var canonical: String {
        folded(caseInsensitive: true, diacriticInsensitive: true)
    }

    private var withoutCase: String {
        folded(caseInsensitive: true, diacriticInsensitive: false)
    }

    private func order(beside other: String) -> ComparisonResult {
        self < other ? .orderedAscending : self == other ? .orderedSame : .orderedDescending
    }
}
