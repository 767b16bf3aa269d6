import LarderModel

/// A search text: what `SEARCH` looks for.
///
///     text        := alternative (OR alternative)*
///     alternative := (AND? -?term)+, at least one of them without a hyphen
///     term        := word | word* | "words of a phrase" | "words of a phra"*
///
/// A text satisfies an alternative if it has each of its terms and none of those with a hyphen. The
/// words are those of ``WordScanner``; a term that it divides into several is a phrase, and one
/// without a word is ignored.
package struct SearchText: Hashable, Sendable {
    /// Words that follow each other.
    package struct Term: Hashable, Sendable {
        /// In the form of ``WordScanner``.
        package let words: [[UInt8]]
        /// Whether the last word is only the beginning of one.
        package let isPrefix: Bool
    }

    package struct Alternative: Hashable, Sendable {
        package var required: [Term] = []
        package var excluded: [Term] = []
    }

    package let alternatives: [Alternative]

    /// - Throws: `malformedValue` for a text that is not one, `resourceExhausted` for a text that
    ///   is too long or has too many words.
    package init(_ text: String) throws(LarderError) {
        let byteCount = text.utf8.count
        guard byteCount <= Limits.searchTextBytesMax else {
            throw LarderError(
                .resourceExhausted,
                "the search text has \(byteCount) bytes; at most \(Limits.searchTextBytesMax) "
                    + "are allowed", hint: "search for a few words")
        }
        var parser = SearchTextParser(text.normalized)
        alternatives = try parser.alternatives()
    }

    /// The terms that are looked for, those of each alternative in order.
    package var required: [Term] { alternatives.flatMap(\.required) }

    /// The words of a text in their compared form, separated by spaces: what an index of words has.
    package static func wordForm(of text: String) -> String {
        var scanner = WordScanner()
        var interruption = Interruption.never
        var form: [UInt8] = []
        let bytes = Array(text.utf8)
        while scanner.next(in: bytes.span, &interruption) {
            if !form.isEmpty { form.append(UInt8(ascii: " ")) }
            form.append(contentsOf: scanner.word)
        }
        return String(decoding: form, as: UTF8.self)
    }
}

/// Parses a search text in one pass over its scalars.
private struct SearchTextParser {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var wordCount = 0
    private var scanner = WordScanner()

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    mutating func alternatives() throws(LarderError) -> [SearchText.Alternative] {
        var finished: [SearchText.Alternative] = []
        var current = SearchText.Alternative()
        /// Where the last AND or OR without a term after it is.
        var openOperator: (name: String, start: Int)?
        while skipSpaces() {
            let start = index
            if let name = operatorName() {
                let isFirst = current == SearchText.Alternative()
                guard openOperator == nil, !isFirst else { throw lacksTerm(name, at: start) }
                openOperator = (name, start)
                if name == "OR" {
                    try check(current, at: start)
                    finished.append(current)
                    current = SearchText.Alternative()
                }
                continue
            }
            let isExcluded = skipHyphen()
            guard let term = try term() else { continue }
            openOperator = nil
            if isExcluded { current.excluded.append(term) } else { current.required.append(term) }
        }
        if let openOperator { throw lacksTerm(openOperator.name, at: openOperator.start) }
        try check(current, at: scalars.count)
        return finished + [current]
    }

    /// AND or OR, in capital letters and between spaces.
    private mutating func operatorName() -> String? {
        for name in ["AND", "OR"] {
            let end = index + name.utf8.count
            guard end <= scalars.count, scalars[index..<end].elementsEqual(name.unicodeScalars),
                end == scalars.count || scalars[end].properties.isWhitespace
            else { continue }
            index = end
            return name
        }
        return nil
    }

    /// A hyphen directly before a term; one alone separates words.
    private mutating func skipHyphen() -> Bool {
        guard scalars[index] == "-", index + 1 < scalars.count,
            !scalars[index + 1].properties.isWhitespace
        else { return false }
        index += 1
        return true
    }

    /// A phrase in quotation marks, or what is before the next space or quotation mark. Nil if it
    /// has no word.
    private mutating func term() throws(LarderError) -> SearchText.Term? {
        let start = index
        var content: ArraySlice<Unicode.Scalar>
        if scalars[index] == "\"" {
            guard let end = scalars[(index + 1)...].firstIndex(of: "\"") else {
                throw failure(
                    "has no second quotation mark for the one", at: start,
                    hint: "write one after the phrase")
            }
            content = scalars[(index + 1)..<end]
            index = end + 1
        } else {
            let end = scalars[index...].firstIndex { scalar in
                scalar == "\"" || scalar == "*" || scalar.properties.isWhitespace
            }
            content = scalars[index..<(end ?? scalars.count)]
            index = end ?? scalars.count
        }
        let isPrefix = index < scalars.count && scalars[index] == "*"
        if isPrefix { index += 1 }
        let words = try words(content)
        if isPrefix {
            let isEnd =
                index == scalars.count || scalars[index] == "\""
                || scalars[index].properties.isWhitespace
            guard isEnd, !words.isEmpty else {
                throw failure(
                    "has an asterisk that is not at the end of a word", at: index - 1,
                    hint: "an asterisk after a word finds all words that begin with it: pan*")
            }
        }
        return words.isEmpty ? nil : SearchText.Term(words: words, isPrefix: isPrefix)
    }

    private mutating func words(
        _ content: ArraySlice<Unicode.Scalar>
    ) throws(LarderError) -> [[UInt8]] {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: content)
        let bytes = Array(String(view).utf8)
        var words: [[UInt8]] = []
        var interruption = Interruption.never
        scanner.begin()
        while scanner.next(in: bytes.span, &interruption) { words.append(scanner.word) }
        wordCount += words.count
        guard wordCount <= Limits.searchWordsMax else {
            throw LarderError(
                .resourceExhausted,
                "the search text has more than \(Limits.searchWordsMax) words",
                hint: "search for a few words")
        }
        return words
    }

    private mutating func skipSpaces() -> Bool {
        while index < scalars.count, scalars[index].properties.isWhitespace { index += 1 }
        return index < scalars.count
    }

    // MARK: Errors

    /// Checks that an alternative has a term that is looked for.
    private func check(_ alternative: SearchText.Alternative, at end: Int) throws(LarderError) {
        guard alternative.required.isEmpty else { return }
        guard !alternative.excluded.isEmpty else {
            throw LarderError(
                .malformedValue, "the search text has no word",
                hint: "a word has letters, digits or symbols such as emoji")
        }
        throw LarderError(
            .malformedValue, "the search text up to character \(end) only excludes words",
            hint: "write a word that the objects have, or NOT SEARCH(…)")
    }

    private func lacksTerm(_ name: String, at start: Int) -> LarderError {
        failure(
            "has no word on one side of \(name)", at: start,
            hint: "write \(name) in lower case to search for the word")
    }

    /// An error at an offset, which is reported as a number from 1.
    private func failure(_ what: String, at offset: Int, hint: String) -> LarderError {
        LarderError(
            .malformedValue, "the search text \(what) at character \(offset + 1)", hint: hint)
    }
}
