// What the string operators mean: on characters as Swift sees them. Strings that are canonically
// equivalent are equal, and a match begins and ends between whole grapheme clusters, so `e` is not
// found in `é`. SQL functions and an evaluator in memory share this file, so that both select the
// same objects.
//
// Strings that are ASCII are compared as bytes: each byte is a character, with the one exception
// of CR LF, which is a single one. With it the slow way is taken.

extension String {
    /// Whether the other string occurs in this one; the empty one does everywhere.
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

    /// Whether the whole string is of the pattern's form: `?` is one character, `*` any run of
    /// them, and a backslash takes the meaning from the next one. A backslash at the very end
    /// stands for itself.
    ///
    /// Takes time up to the product of both lengths, for any pattern.
    public func matches(like pattern: String) -> Bool {
        LikePattern(pattern).matches(self)
    }

    /// Both strings as bytes, if in both each byte is a character.
    private static func bytes(_ left: String, _ right: String) -> (UTF8View, UTF8View)? {
        left.isBytePerCharacter && right.isBytePerCharacter ? (left.utf8, right.utf8) : nil
    }

    /// Whether the string is ASCII without CR; a CR may be half of a character.
    var isBytePerCharacter: Bool {
        utf8.allSatisfy { $0 < 0x80 && $0 != 0x0D }
    }

    /// Knuth, Morris and Pratt's search: linear, also where the part almost occurs everywhere.
    private static func contains<Text: Sequence, Part: Collection>(
        _ text: Text, _ part: Part, _ interruption: Interruption
    ) -> Bool where Text.Element == Part.Element, Text.Element: Equatable {
        var interruption = interruption
        let part = Array(part)
        if part.isEmpty { return true }
        // borders[n]: the length of the longest start of part that also ends part[...n].
        var borders = [0]
        borders.reserveCapacity(part.count)
        var matched = 0
        for element in part.dropFirst() {
            if interruption.isDue() { return false }
            while matched > 0, part[matched] != element { matched = borders[matched - 1] }
            if part[matched] == element { matched += 1 }
            borders.append(matched)
        }
        matched = 0
        for element in text {
            if interruption.isDue() { return false }
            while matched > 0, part[matched] != element { matched = borders[matched - 1] }
            if part[matched] == element { matched += 1 }
            if matched == part.count { return true }
        }
        return false
    }
}
