@_spi(_Unicode) import Swift

// The forms of strings that are stored and compared. ASCII is its own normal form, and is passed
// through without a copy.

extension String {
    /// The string as `[c]` and `[d]` compare it, in the form NFC: case is folded by mapping to
    /// lower case; diacritics are the nonspacing marks of the canonical decomposition.
    public func folded(caseInsensitive: Bool, diacriticInsensitive: Bool) -> String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return caseInsensitive ? lowercased() : self }
        var text = self
        if diacriticInsensitive { text = text.withoutNonspacingMarks }
        if caseInsensitive { text = text.lowercased() }
        return text.normalized
    }

    /// The string in Unicode's form NFC, in which strings are stored.
    public var normalized: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        var scalars = String.UnicodeScalarView()
        for scalar in _nfc { scalars.append(scalar) }
        return String(scalars)
    }

    private var withoutNonspacingMarks: String {
        var scalars = String.UnicodeScalarView()
        for scalar in _nfd where scalar.properties.generalCategory != .nonspacingMark {
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
