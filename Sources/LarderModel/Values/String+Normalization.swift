@_spi(_Unicode) import Swift

// The normal forms in which strings are stored and compared. ASCII is its own normal form and is
// returned without a copy.

extension String {
    /// The form in which `[c]` and `[d]` compare strings, in NFC. `[c]` applies Unicode's full case
    /// folding; `[d]` removes the nonspacing marks of the canonical decomposition.
    public func folded(
        caseInsensitive: Bool, diacriticInsensitive: Bool, _ interruption: Interruption = .never
    ) -> String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return caseInsensitive ? lowercased() : self }
        var text = self
        if diacriticInsensitive { text = text.withoutNonspacingMarks(interruption) }
        if caseInsensitive { text = text.caseFolded(interruption) }
        return text.normalized(interruption)
    }

    /// Like the standard library's method, but interruptible.
    func uppercased(_ interruption: Interruption) -> String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return uppercased() }
        return mapped(interruption) { $0.properties.uppercaseMapping }
    }

    func lowercased(_ interruption: Interruption) -> String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return lowercased() }
        return mapped(interruption) { $0.properties.lowercaseMapping }
    }

    private func mapped(
        _ interruption: Interruption, _ mapping: (Unicode.Scalar) -> String
    ) -> String {
        var interruption = interruption
        var mapped = ""
        mapped.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            if interruption.isDue() { break }
            mapped += mapping(scalar)
        }
        return mapped
    }

    /// The string in Unicode normalization form NFC, in which strings are stored.
    public var normalized: String { normalized(.never) }

    func normalized(_ interruption: Interruption) -> String {
        // Below U+0300, whose first byte is 0xCC, no character composes with another.
        if utf8.allSatisfy({ $0 < 0xCC }) { return self }
        var interruption = interruption
        var scalars = String.UnicodeScalarView()
        for scalar in withOrderedMarks(interruption)._nfc {
            if interruption.isDue() { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }

    /// An equivalent string whose combining marks are already in canonical order. The standard
    /// library sorts them in quadratic time.
    private func withOrderedMarks(_ interruption: Interruption) -> String {
        var interruption = interruption
        var scalars = String.UnicodeScalarView()
        var marks: [(order: UInt8, index: Int, scalar: Unicode.Scalar)] = []
        func appendMarks() {
            marks.sort { ($0.order, $0.index) < ($1.order, $1.index) }
            for mark in marks { scalars.append(mark.scalar) }
            marks.removeAll(keepingCapacity: true)
        }
        for scalar in unicodeScalars {
            if interruption.isDue() { break }
            let order = scalar.properties.canonicalCombiningClass.rawValue
            if order == 0 {
                appendMarks()
                scalars.append(scalar)
            } else {
                marks.append((order, marks.count, scalar))
            }
        }
        appendMarks()
        return String(scalars)
    }

    /// Unicode's full case folding: `ß` becomes `ss`. It equals the lower case of the upper case,
    /// after `ẞ` has been mapped to lower case; the dotless `ı` must be excluded, since it would
    /// become `i`.
    private func caseFolded(_ interruption: Interruption) -> String {
        var interruption = interruption
        var folded = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if interruption.isDue() { break }
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

    private func withoutNonspacingMarks(_ interruption: Interruption) -> String {
        var interruption = interruption
        var scalars = String.UnicodeScalarView()
        for scalar in withOrderedMarks(interruption)._nfd {
            if interruption.isDue() { break }
            if scalar.properties.generalCategory != .nonspacingMark { scalars.append(scalar) }
        }
        return String(scalars)
    }
}
