import LarderModel

// The string operators, which work on Swift's characters. Canonically equivalent strings are equal,
// and matches begin and end between grapheme clusters, so `é` does not contain `e`. The SQL
// functions and the in-memory evaluator use `StringOperator`, so that both select the same objects.

extension String {
    /// Whether the string contains another; every string contains the empty one.
    package func containsCharacters(
        of part: String, _ interruption: Interruption = .never
    ) -> Bool {
        holds(.contains, part, interruption)
    }

    package func beginsWithCharacters(of part: String) -> Bool { holds(.beginsWith, part) }

    package func endsWithCharacters(of part: String) -> Bool { holds(.endsWith, part) }

    private func holds(
        _ name: Comparison.Operator, _ part: String, _ interruption: Interruption = .never
    ) -> Bool {
        let test = StringOperator(name, part.normalized(interruption), [], interruption)
        // Only LIKE throws.
        return (try? test.holds(normalized(interruption), interruption)) ?? false
    }

    /// Whether a LIKE pattern matches the whole string: `?` matches one character, `*` any number
    /// of characters. A backslash escapes the next character; at the end of the pattern it matches
    /// itself.
    ///
    /// Takes time at most proportional to the product of both lengths.
    package func matches(like pattern: String) -> Bool {
        LikePattern(pattern).matches(self)
    }

    /// Whether the string is ASCII without CR, which may be part of the character CR LF.
    var isBytePerCharacter: Bool {
        utf8.allSatisfy { $0 < 0x80 && $0 != 0x0D }
    }

    /// The form of ``containsCharacters(of:_:)`` that compares characters.
    func containsByCharacters(_ part: String, _ interruption: Interruption) -> Bool {
        var interruption = interruption
        guard var search = PartSearch(part, &interruption) else { return part.isEmpty }
        for character in self {
            if interruption.isDue() { return false }
            if search.isEnd(character) { return true }
        }
        return false
    }

    /// The form that these options compare; unchanged without them.
    package func folded(
        _ options: Comparison.Options, _ interruption: Interruption = .never
    ) -> String {
        let folding = options.intersection([.caseInsensitive, .diacriticInsensitive])
        if folding.isEmpty { return self }
        return folded(
            caseInsensitive: folding.contains(.caseInsensitive),
            diacriticInsensitive: folding.contains(.diacriticInsensitive), interruption)
    }
}
