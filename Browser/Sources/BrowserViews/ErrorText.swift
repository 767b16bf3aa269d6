public import HTMLPages
public import LarderClient

extension LarderError {
    /// The message as a sentence.
    public var sentence: String {
        let start = message.prefix(1).uppercased() + message.dropFirst()
        return start.hasSuffix(".") ? start : start + "."
    }

    /// The hint as a sentence; nil if there is none.
    public var hintSentence: String? {
        hint.map { $0.prefix(1).uppercased() + $0.dropFirst() + "." }
    }
}

/// An error of a query where its text was typed, with a caret below the column of the error.
///
/// - Parameter texts: The format strings of the query, each with the name that messages use.
public func queryError(_ error: LarderError, in texts: [(name: String, text: String)]) -> HTML {
    let named = texts.first { error.message.hasPrefix("\($0.name), column ") }
    let excerpt = error.column.flatMap { column in named.map { caret(at: column, of: $0.text) } }
    let hint: HTML? = error.hintSentence.map { "<br>\($0)" }
    return """
        <div class="error" role="alert" id="query-error"><code>\(error.code.name)</code> \
        \(error.sentence)\(excerpt)\(hint)</div>
        """
}

/// The number of characters that are shown on each side of a caret.
private let excerptReach = 60

private func caret(at column: Int, of text: String) -> HTML {
    let line = text.map { $0.isNewline || $0 == "\t" ? " " : $0 }
    let position = min(max(0, column - 1), line.count)
    let start = max(0, position - excerptReach)
    let end = min(line.count, position + excerptReach)
    let before = (start > 0 ? "…" : "") + String(line[start..<position])
    // The mark is on the character itself, whose width is then of no importance.
    let marked = position < line.count ? String(line[position]) : " "
    let after = position < end ? String(line[(position + 1)..<max(position + 1, end)]) : ""
    return """
        <pre class="excerpt">\(before)<mark>\(marked)</mark>\(after)\(end < line.count ? "…" : "")\
        \n\(String(repeating: " ", count: before.count))^</pre>
        """
}
