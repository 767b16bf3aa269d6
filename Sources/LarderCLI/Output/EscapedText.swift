/// Escapes control characters, which would break a line or a column, for every destination.
/// `TerminalText` replaces what a terminal must not get.
enum EscapedText {
    /// `\t`, `\n`, `\r`, `\\`, and `\xHH` for other control characters.
    static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: needsEscape) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\t": result += #"\t"#
            case "\n": result += #"\n"#
            case "\r": result += #"\r"#
            case "\\": result += #"\\"#
            case _ where needsEscape(scalar):
                let digits = String(scalar.value, radix: 16)
                result += digits.count == 1 ? #"\x0"# : #"\x"#
                result += digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whether the scalar is a C0 or C1 control character (terminals interpret both), or a
    /// backslash.
    private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar == "\\"
    }
}
