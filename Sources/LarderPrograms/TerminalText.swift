import Glibc

/// The only way of text to a terminal: it replaces what a terminal would obey instead of show.
///
/// Texts come from stores, servers and arguments of others, and may contain sequences that set the
/// title, move the cursor, paste into the shell or turn the order of characters. Files and pipes
/// get the bytes of a text unchanged.
package enum TerminalText {
    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// The text with `\u001b` for an escape character, and the same form for every other control
    /// character except tabs and line ends, for line separators, and for characters that change the
    /// direction of a text. JSON has the same form, so that it stays valid.
    package static func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard scalars.contains(where: isObeyed) else { return text }
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for index in scalars.indices {
            let scalar = scalars[index]
            if isObeyed(scalar), !isLineEnd(index, scalars) {
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// All of these have at most four hexadecimal digits.
    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x20...0x7E: false
        case 0...0x9F, 0x2028, 0x2029: true
        default: scalar.properties.isBidiControl
        }
    }

    /// A carriage return alone would let a text overwrite the beginning of its line.
    private static func isLineEnd(
        _ index: String.UnicodeScalarView.Index, _ scalars: String.UnicodeScalarView
    ) -> Bool {
        let next = scalars.index(after: index)
        return scalars[index] == "\r" && next < scalars.endIndex && scalars[next] == "\n"
    }
}
