import LarderModel

extension ScalarFunction {
    /// The value of a function of a search for operands of the types in its signature; nil for
    /// operands of other types. Text that is nil has no words.
    func searchValue(
        _ operands: [Value], _ interruption: Interruption
    ) throws(LarderError) -> Value {
        guard
            let index = operands.indices.first(where: { isSearchText(at: $0, of: operands.count) })
        else { return .null }
        guard case .string(let text) = operands[index] else {
            // No text has the words of a search text that is nil.
            switch self {
            case .search: return .bool(false)
            case .score: return .double(0)
            default: return .null
            }
        }
        let search = WordSearch(try SearchText(text))
        switch self {
        case .search, .score:
            search.begin()
            for case .string(let text) in operands.dropLast() {
                search.read(Array(text.utf8).span, interruption)
            }
            return self == .search ? .bool(search.holds) : .double(search.score)
        default: return try marked(operands, search, interruption)
        }
    }

    /// The result of `highlight(text, search, start, end)` and of
    /// `snippet(text, search, words, start, end)`.
    package func marked(
        _ operands: [Value], _ search: WordSearch, _ interruption: Interruption
    ) throws(LarderError) -> Value {
        guard case .string(let text)? = operands.first else { return .null }
        var words = Self.snippetWords
        if self == .snippet, operands.count > 2 {
            guard let given = operands[2].integer else { return .null }
            words = Int(clamping: given)
        }
        var marks: [String] = []
        for operand in operands.dropFirst(self == .snippet ? 3 : 2) {
            guard case .string(let mark) = operand else { return .null }
            marks.append(mark)
        }
        let marker = SearchMarks(
            search, start: marks.first ?? "[", end: marks.last ?? "]")
        let marked =
            self == .snippet
            ? marker.snippet(of: text, words: words, interruption)
            : marker.highlighted(text, interruption)
        guard let marked else { throw tooLong }
        return .string(marked)
    }

    /// The words of a snippet unless the call has a number.
    private static let snippetWords = 16
}

extension Value {
    fileprivate var integer: Int64? {
        switch self {
        case .int(let integer): integer
        case .double(let double): Int64(exactly: double)
        default: nil
        }
    }
}
