/// Texts in source code that `larder schema show` prints.
enum SourceText {
    /// A string literal in double quotes. Everything but printable ASCII and letters of other
    /// scripts is escaped, so that no invisible character changes the code.
    ///
    /// - Parameter escape: The escape sequence of the language for any other character.
    static func literal(_ text: String, escape: (Unicode.Scalar) -> String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case _ where isPrintable(scalar): literal.unicodeScalars.append(scalar)
            default: literal += escape(scalar)
            }
        }
        return literal + "\""
    }

    static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) }
        return scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }
}
