// The string operators, which work on Swift's characters. Canonically equivalent strings are equal,
// and matches begin and end between grapheme clusters, so `é` does not contain `e`. The SQL
// functions and the in-memory evaluator share this file, so that both select the same objects.
//
// ASCII strings are compared as bytes, since each byte is a character. The exception is CR LF,
// which is a single character, so strings with CR are compared by characters.

extension String {
    /// Whether the string contains another; every string contains the empty one.
    public func containsCharacters(
        of part: String, _ interruption: Interruption = .never
    ) -> Bool {
        if let (text, part) = Self.bytes(self, part) {
            return Self.contains(text, part, interruption)
        }
        return Self.contains(self, part, interruption)
    }

    public func beginsWithCharacters(of part: String) -> Bool {
        if let (text, part) = Self.bytes(self, part) { return text.starts(with: part) }
        return starts(with: part)
    }

    public func endsWithCharacters(of part: String) -> Bool {
        if let (text, part) = Self.bytes(self, part) {
            return text.reversed().starts(with: part.reversed())
        }
        return reversed().starts(with: part.reversed())
    }

    /// Whether a LIKE pattern matches the whole string: `?` matches one character, `*` any number
    /// of characters. A backslash escapes the next character; at the end of the pattern it matches
    /// itself.
    ///
    /// Takes time at most proportional to the product of both lengths.
    public func matches(like pattern: String) -> Bool {
        LikePattern(pattern).matches(self)
    }

    /// Both strings as bytes if each byte of both is a character; otherwise nil.
    private static func bytes(_ left: String, _ right: String) -> (UTF8View, UTF8View)? {
        left.isBytePerCharacter && right.isBytePerCharacter ? (left.utf8, right.utf8) : nil
    }

    /// Whether the string is ASCII without CR, which may be part of the character CR LF.
    var isBytePerCharacter: Bool {
        utf8.allSatisfy { $0 < 0x80 && $0 != 0x0D }
    }

    private static func contains<Text: Sequence, Part: Sequence>(
        _ text: Text, _ part: Part, _ interruption: Interruption
    ) -> Bool where Text.Element == Part.Element, Text.Element: Equatable {
        var interruption = interruption
        guard var search = PartSearch(part, &interruption) else {
            return part.first { _ in true } == nil
        }
        for element in text {
            if interruption.isDue() { return false }
            if search.isEnd(element) { return true }
        }
        return false
    }
}
