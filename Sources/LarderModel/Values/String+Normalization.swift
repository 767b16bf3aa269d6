@_spi(_Unicode) import Swift

// The forms of strings that are stored and compared. ASCII is its own normal form, and is passed
// through without a copy.

extension String {
    /// The string as `[c]` and `[d]` compare it, in the form NFC: case by Unicode's full folding;
    /// diacritics are the nonspacing marks of the canonical decomposition.
    public func folded(caseInsensitive: Bool, diacriticInsensitive: Bool) -> String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return caseInsensitive ? lowercased() : self }
        var text = self
        if diacriticInsensitive { text = text.withoutNonspacingMarks }
        if caseInsensitive { text = text.caseFolded }
        return text.normalized
    }

    /// The string in Unicode's form NFC, in which strings are stored.
    public var normalized: String {
        // Below U+0300, whose first byte is 0xCC, no character composes with another.
        if utf8.allSatisfy({ $0 < 0xCC }) { return self }
        var scalars = String.UnicodeScalarView()
        for scalar in withOrderedMarks._nfc { scalars.append(scalar) }
        return String(scalars)
    }

    /// An equivalent string whose marks stand in canonical order already. The standard library
    /// puts them there in time that grows with the square of their number.
    private var withOrderedMarks: String {
        var scalars = String.UnicodeScalarView()
        var marks: [(order: UInt8, place: Int, scalar: Unicode.Scalar)] = []
        func take() {
            marks.sort { ($0.order, $0.place) < ($1.order, $1.place) }
            for mark in marks { scalars.append(mark.scalar) }
            marks.removeAll(keepingCapacity: true)
        }
        for scalar in unicodeScalars {
            let order = scalar.properties.canonicalCombiningClass.rawValue
            if order == 0 {
                take()
                scalars.append(scalar)
            } else {
                marks.append((order, marks.count, scalar))
            }
        }
        take()
        return String(scalars)
    }

    /// Unicode's full case folding, `ß` becomes `ss`. It is what lower case makes of upper case
    /// (the capital `ẞ` has to be made small first); only the dotless `ı` would become another
    /// letter by that.
    private var caseFolded: String {
        var folded = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar.isASCII {
                let isUpper = ("A"..."Z").contains(scalar)
                folded.append(isUpper ? Unicode.Scalar(UInt8(scalar.value) + 32) : scalar)
            } else if scalar.properties.changesWhenCaseMapped, scalar != "\u{131}" {
                let upper = scalar.properties.lowercaseMapping.uppercased()
                folded.append(contentsOf: upper.lowercased().unicodeScalars)
            } else {
                folded.append(scalar)
            }
        }
        return String(folded)
    }

    private var withoutNonspacingMarks: String {
        var scalars = String.UnicodeScalarView()
        let decomposed = withOrderedMarks._nfd
        for scalar in decomposed where scalar.properties.generalCategory != .nonspacingMark {
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
