/// The width of text on a terminal, in columns.
///
/// A terminal draws a character (a grapheme cluster) with the widths of its scalars, of which
/// combining marks have none, and an emoji in two columns, however many scalars it has.
enum DisplayWidth {
    /// The width of a text without control characters.
    static func of(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// The text, or its beginning and `…` if it is wider than a number of columns.
    static func cut(_ text: String, to width: Int) -> String {
        // No character is wider than its number of bytes.
        if text.utf8.count <= width { return text }
        var result = ""
        var (used, lengthThatFits) = (0, result.endIndex)
        for character in text {
            used += of(character)
            if used > width {
                return width > 0 ? result[..<lengthThatFits] + "…" : ""
            }
            result.append(character)
            if used < width { lengthThatFits = result.endIndex }
        }
        return text
    }

    /// The lines of a text that is wrapped after a space, or within a word that is wider than a
    /// line; a line has at least one character.
    static func lines(_ text: String, width: Int) -> [String] {
        if text.utf8.count <= width { return [text] }
        var lines: [String] = []
        var (line, used) = (""[...], 0)
        for character in text {
            let columns = of(character)
            if used + columns > width, !line.isEmpty {
                let end = line.lastIndex(of: " ").map { line.index(after: $0) } ?? line.endIndex
                lines.append(String(line[..<end]))
                line = line[end...]
                used = of(String(line))
            }
            line.append(character)
            used += columns
        }
        if !line.isEmpty || lines.isEmpty { lines.append(String(line)) }
        return lines
    }

    private static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        if let first = scalars.first, isEmoji(first, scalars) { return 2 }
        return scalars.reduce(0) { $0 + of($1) }
    }

    /// Whether a character is drawn as a picture. A flag is two regional indicators of one column.
    private static func isEmoji(
        _ first: Unicode.Scalar, _ scalars: Character.UnicodeScalarView
    ) -> Bool {
        if (0x1F1E6...0x1F1FF).contains(first.value) { return false }
        return first.properties.isEmojiPresentation
            || first.properties.isEmoji && scalars.contains("\u{FE0F}")
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        // The soft hyphen.
        case 0xAD: return 1
        // Vowels and final consonants of Hangul, which join a first consonant.
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: return 0
        default: break
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return isWide(scalar) ? 2 : 1
        }
    }

    /// Whether Unicode's property East Asian Width is Wide or Fullwidth, of characters other than
    /// emoji: CJK, Hangul, Tangut, Kana and fullwidth forms. Unassigned ranges among them count.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F, 0x2E80...0x303E,
            0x3041...0x3247, 0x3250...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE10...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x191D2,
            0x1AFF0...0x1B2FB, 0x1D300...0x1D376, 0x1F200...0x1F265, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
