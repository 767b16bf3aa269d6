@_spi(_Unicode) import Swift

// The normal forms in which strings are stored and compared. ASCII is its own normal form and is
// returned without a copy.

extension String {
    /// The form in which `[c]` and `[d]` compare strings, in NFC. `[c]` applies Unicode's full case
    /// folding; `[d]` removes the nonspacing marks of the canonical decomposition.
    package func folded(
        caseInsensitive: Bool, diacriticInsensitive: Bool, _ interruption: Interruption = .never
    ) -> String {
        if hasOnlyBytes(below: 0x80) {
            return caseInsensitive ? asciiLowercased(interruption) : self
        }
        var text = self
        if diacriticInsensitive { text = text.withoutNonspacingMarks(interruption) }
        if caseInsensitive { text = text.caseFolded(interruption) }
        return text.normalized(interruption)
    }

    /// Whether every byte of the text, in UTF-8, is less than a limit. Whole blocks are compared at
    /// once, because texts are long.
    package func hasOnlyBytes(below end: UInt8) -> Bool {
        let isBelow = utf8.withContiguousStorageIfAvailable { bytes in
            var start = 0
            while start < bytes.count {
                let blockEnd = min(start + 64, bytes.count)
                var greatest: UInt8 = 0
                for index in start..<blockEnd { greatest = max(greatest, bytes[index]) }
                if greatest >= end { return false }
                start = blockEnd
            }
            return true
        }
        return isBelow ?? utf8.allSatisfy { $0 < end }
    }

    /// The lower case of an ASCII string.
    private func asciiLowercased(_ interruption: Interruption) -> String {
        let blockBytes = 64 << 10
        guard utf8.count > blockBytes else { return lowercased() }
        var interruption = interruption
        var bytes = Array(utf8)
        for start in stride(from: 0, to: bytes.count, by: blockBytes) {
            if interruption.isDue(after: blockBytes) { break }
            for index in start..<min(start + blockBytes, bytes.count) {
                let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[index])
                if isUpper { bytes[index] += 32 }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Like the standard library's method, but interruptible.
    package func uppercased(_ interruption: Interruption) -> String {
        if hasOnlyBytes(below: 0x80) { return uppercased() }
        return mapped(interruption) { $0.properties.uppercaseMapping }
    }

    package func lowercased(_ interruption: Interruption) -> String {
        if hasOnlyBytes(below: 0x80) { return lowercased() }
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
    package var normalized: String { normalized(.never) }

    package func normalized(_ interruption: Interruption) -> String {
        // Below U+0300, whose first byte is 0xCC, no character composes with another.
        if hasOnlyBytes(below: 0xCC) { return self }
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
        var marks: [(order: UInt8, scalar: Unicode.Scalar)] = []
        func appendMarks() {
            for mark in Self.ordered(marks) { scalars.append(mark.scalar) }
            marks.removeAll(keepingCapacity: true)
        }
        for scalar in unicodeScalars {
            if interruption.isDue() { break }
            let order = scalar.properties.canonicalCombiningClass.rawValue
            if order == 0 {
                appendMarks()
                scalars.append(scalar)
            } else {
                marks.append((order, scalar))
            }
        }
        appendMarks()
        return String(scalars)
    }

    /// Marks by their order; marks of the same order stay as they are. Linear, by counting, because
    /// a whole text may be one sequence of marks.
    private static func ordered(
        _ marks: [(order: UInt8, scalar: Unicode.Scalar)]
    ) -> [(order: UInt8, scalar: Unicode.Scalar)] {
        guard marks.count > 1 else { return marks }
        var ends = [Int](repeating: 0, count: 257)
        for mark in marks { ends[Int(mark.order) + 1] += 1 }
        for order in 1...256 { ends[order] += ends[order - 1] }
        var ordered = marks
        for mark in marks {
            ordered[ends[Int(mark.order)]] = mark
            ends[Int(mark.order)] += 1
        }
        return ordered
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
                // One by one: to append a sequence counts what is already there.
                for scalar in upper.lowercased().unicodeScalars { folded.append(scalar) }
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
