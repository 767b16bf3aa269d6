import LarderModel

/// A string operator with its pattern, prepared for many texts: CONTAINS, BEGINSWITH, ENDSWITH and
/// LIKE, each with any options.
///
/// Texts and patterns are in NFC, so equal characters have equal bytes, and a part of a text is
/// found by its bytes. That it begins and ends between characters is then tested where the bytes
/// match. `[c]` and `[d]` compare folded forms, which a `FoldingTable` writes into memory that is
/// used again for each text. The rules for all other texts, which work on Swift's characters, are
/// those of `String`; they decide whenever a scalar is not simple.
///
/// Used by one thread at a time.
package final class StringOperator {
    /// The maximum number of steps in one LIKE match: usual patterns take one or two per character,
    /// so this is enough for the longest text.
    package static let usualLikeStepsMax = 64 << 20
    private let name: Comparison.Operator
    package let options: Comparison.Options
    /// The folded pattern.
    private let pattern: String
    private let search: ByteSearch
    private let like: LikePattern?
    /// Whether CR LF, which is one character, matters for texts of simple scalars.
    private let concernsLineEnds: Bool
    /// Nil without options.
    private let folder: TextFolder?
    private let likeStepsMax: Int
    /// Whether the pattern is so short that a match with a short text needs no interruption.
    private let isShort: Bool
    /// The length of a short text or pattern.
    private static let shortBytesMax = 256

    /// - Parameter pattern: In NFC.
    package init(
        _ name: Comparison.Operator, _ pattern: String, _ options: Comparison.Options,
        likeStepsMax: Int = StringOperator.usualLikeStepsMax, _ interruption: Interruption = .never
    ) {
        self.name = name
        self.options = options
        self.likeStepsMax = likeStepsMax
        self.pattern = pattern.folded(options, interruption)
        isShort = self.pattern.utf8.count <= Self.shortBytesMax
        let like = name == .like ? LikePattern(self.pattern) : nil
        self.like = like
        search = ByteSearch(like?.longestLiteral ?? Array(self.pattern.utf8))
        let folding = options.intersection([.caseInsensitive, .diacriticInsensitive])
        folder = folding.isEmpty ? nil : TextFolder(folding)
        concernsLineEnds =
            self.pattern.utf8.contains { $0 == 0x0A || $0 == 0x0D } || like?.hasAnyCharacter == true
    }

    /// Whether a text in NFC satisfies the operator.
    ///
    /// - Throws: `resourceExhausted` for a match of LIKE with too many steps.
    package func holds(
        _ text: Span<UInt8>, _ interruption: Interruption = .never
    ) throws(LarderError) -> Bool {
        // A copy of an interruption takes as long as a short text.
        var interruption = isShort && text.count <= Self.shortBytesMax ? .never : interruption
        guard let folder else { return try holds(unfolded: text, &interruption) }
        if !concernsLineEnds || !text.hasCarriageReturn {
            let isTrue = try folder.withSimple(text) { text throws(LarderError) in
                try holds(simple: text, &interruption)
            }
            if let isTrue { return isTrue }
        }
        return try holds(characters: text.string.folded(options, interruption), interruption)
    }

    package func holds(
        _ text: String, _ interruption: Interruption = .never
    ) throws(LarderError) -> Bool {
        try holds(Array(text.utf8).span, interruption)
    }

    /// For a folded text of simple scalars, which are its characters.
    private func holds(
        simple text: Span<UInt8>, _ interruption: inout Interruption
    ) throws(LarderError) -> Bool {
        switch name {
        case .beginsWith: return search.matches(text, at: 0)
        case .endsWith: return search.matches(text, at: text.count - search.part.count)
        case .like:
            guard let like else { return false }
            return try decided(like.matches(simple: text, stepsMax: likeStepsMax, &interruption))
        default: return search.offset(in: text, from: 0, &interruption) != nil
        }
    }

    /// For a text in NFC without options.
    private func holds(
        unfolded text: Span<UInt8>, _ interruption: inout Interruption
    ) throws(LarderError) -> Bool {
        switch name {
        case .beginsWith:
            guard search.matches(text, at: 0) else { return false }
            if text.isSimpleBoundary(search.part.count) { return true }
        case .endsWith:
            let start = text.count - search.part.count
            guard search.matches(text, at: start) else { return false }
            if text.isSimpleBoundary(start) { return true }
        case .like:
            // No text without the longest literal matches.
            guard search.offset(in: text, from: 0, &interruption) != nil else { return false }
            let hasParts = like?.matchesParts(of: text, stepsMax: likeStepsMax, &interruption)
            if hasParts == true { return true }
            if !concernsLineEnds || !text.hasCarriageReturn, text.simpleCharacterCount != nil {
                return try holds(simple: text, &interruption)
            }
        default:
            guard let start = search.offset(in: text, from: 0, &interruption) else { return false }
            let end = start + search.part.count
            if text.isSimpleBoundary(start), text.isSimpleBoundary(end) { return true }
        }
        return try holds(characters: text.string, interruption)
    }

    /// For any folded text, by its characters.
    private func holds(
        characters text: String, _ interruption: Interruption
    ) throws(LarderError) -> Bool {
        switch name {
        case .beginsWith: return text.starts(with: pattern)
        case .endsWith: return text.reversed().starts(with: pattern.reversed())
        case .like:
            guard let like else { return false }
            return try decided(
                like.matches(characters: text, stepsMax: likeStepsMax, interruption))
        default: return text.containsByCharacters(pattern, interruption)
        }
    }

    private func decided(_ isLike: Bool?) throws(LarderError) -> Bool {
        guard let isLike else {
            throw LarderError(
                .resourceExhausted, "a match with LIKE takes too long",
                hint: "write the pattern so that it has fewer ways to match")
        }
        return isLike
    }
}
