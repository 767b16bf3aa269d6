import LarderModel
@_spi(_Unicode) import Swift

/// The form of texts in the indexes of parts of texts.
///
/// A text that contains another one has the form of the other one in its own form, with and without
/// `[c]` and `[d]`, because each Unicode scalar is mapped by itself: decomposed, without the marks
/// that combine with other characters, and case-folded. The reverse is not true, so an index finds
/// candidates only.
///
/// One exception: `[c]` folds the mark U+0345 to a letter, iota, and the form removes the mark.
/// ``foldedMark`` is that letter.
package enum SearchForm {
    /// The only letter of a form that a text with the option `[c]` alone may have in addition.
    package static let foldedMark: Unicode.Scalar = "\u{3B9}"

    /// The form of a text, which is empty if it has only marks.
    package static func form(of text: String) -> String {
        var form: [UInt8] = []
        form.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars { append(scalar, to: &form) }
        return String(decoding: form, as: UTF8.self)
    }

    /// Appends the form of a scalar, in UTF-8; nothing for a mark.
    static func append(_ scalar: Unicode.Scalar, to form: inout [UInt8]) {
        if scalar.isASCII {
            form.append(asciiForm(UInt8(truncatingIfNeeded: scalar.value)))
        } else if scalar.value < tableEnd {
            let index = Int(scalar.value)
            let (start, end) = (table.starts[index], table.starts[index + 1])
            form.append(contentsOf: table.bytes[Int(start)..<Int(end)])
        } else if isIdeograph(scalar) {
            form.append(contentsOf: String(scalar).utf8)
        } else {
            form.append(contentsOf: computedForm(of: scalar).utf8)
        }
    }

    /// A lower-case letter. SQLite's tokenizer ends at a zero byte.
    private static func asciiForm(_ byte: UInt8) -> UInt8 {
        switch byte {
        case 0: 1
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte + 32
        default: byte
        }
    }

    /// The unified ideographs of CJK, which are their own form.
    static func isIdeograph(_ scalar: Unicode.Scalar) -> Bool {
        (0x3400...0x4DBF).contains(scalar.value) || (0x4E00...0x9FFF).contains(scalar.value)
    }

    private static func computedForm(of scalar: Unicode.Scalar) -> String {
        // SQLite's tokenizer replaces these two.
        if scalar == "\u{FFFE}" || scalar == "\u{FFFF}" { return "\u{FFFD}" }
        var form = String.UnicodeScalarView()
        for part in String(scalar)._nfd where !combines(part) {
            let folded = String(part).folded(caseInsensitive: true, diacriticInsensitive: false)
            for part in folded._nfd where !combines(part) { form.append(part) }
        }
        return String(form)
    }

    /// Whether a scalar is a mark that `[d]` removes, or one that the normal forms may move.
    private static func combines(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        return properties.generalCategory == .nonspacingMark
            || properties.canonicalCombiningClass != .notReordered
    }

    /// The forms of the scalars of the alphabets of Europe, one after the other.
    private struct Table {
        var starts: [UInt32] = [0]
        var bytes: [UInt8] = []
    }

    private static let tableEnd: UInt32 = 0x590

    private static let table: Table = {
        var table = Table()
        for value in 0..<tableEnd {
            if let scalar = Unicode.Scalar(value) {
                table.bytes += Array(computedForm(of: scalar).utf8)
            }
            table.starts.append(UInt32(table.bytes.count))
        }
        return table
    }()
}
