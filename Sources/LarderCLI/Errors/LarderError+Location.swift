import LarderModel

extension LarderError {
    /// The error with the file name and the line before its message.
    func at(line: Int, of fileName: String) -> LarderError {
        var located = self
        located.message = "\(fileName), line \(line): \(message)"
        return located
    }

    /// The error with a range of lines, any of which may have caused it.
    ///
    /// - Parameter lines: In ascending order.
    func at(lines: [Int], of fileName: String) -> LarderError {
        guard let first = lines.first, let last = lines.last, first < last else {
            return lines.first.map { at(line: $0, of: fileName) } ?? self
        }
        var located = self
        located.message = "\(fileName), lines \(first) to \(last): \(message)"
        return located
    }

    /// The error with one more sentence in its hint.
    func adding(hint: String) -> LarderError {
        var extended = self
        extended.hint = self.hint.map { "\($0); \(hint)" } ?? hint
        return extended
    }

    /// The error with a value of the input at the end of its message, shortened if it is long.
    func showing(_ text: String) -> LarderError {
        var extended = self
        let shown = EscapedText.escaped(String(text.prefix(Self.shownCharactersMax)))
        let end = text.count > Self.shownCharactersMax ? "…" : ""
        let message = message.replacing(", found another integer", with: "")
        extended.message =
            message.contains(", found ")
            ? "\(message) \"\(shown)\(end)\"" : "\(message), found \"\(shown)\(end)\""
        return extended
    }

    /// The error of the store about one property of a row, with the value that it has refused.
    ///
    /// - Parameter value: That of a property; nil if it is unknown.
    func showing(_ value: (_ change: Int, _ property: String) -> Value?) -> LarderError {
        guard details.count == 1, let rule = details[0].rule, let change = details[0].change,
            details[0].propertyNames.count == 1,
            [.minimum, .maximum, .minLength, .maxLength, .pattern, .unique].contains(rule),
            let found = value(change, details[0].propertyNames[0]), !found.isNull
        else { return self }
        return showing(found.text)
    }

    private static var shownCharactersMax: Int { 40 }
}
