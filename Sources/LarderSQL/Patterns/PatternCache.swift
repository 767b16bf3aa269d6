import LarderModel
import LarderQuery

/// The compiled patterns of `MATCHES`. There is one cache per connection.
package final class PatternCache {
    private struct Key: Hashable {
        var pattern: String
        var options: Comparison.Options
    }

    private var matches: [Key: PatternMatch] = [:]

    /// A statement has few patterns, unless a column contains them.
    private static let patternsMax = 64

    private let interruption: Interruption

    package init(_ interruption: Interruption = .never) { self.interruption = interruption }

    /// The compiled form of a pattern.
    ///
    /// - Throws: `malformedPredicate` for a pattern that does not compile.
    package func match(
        _ pattern: String, _ options: Comparison.Options
    ) throws(LarderError) -> PatternMatch {
        let key = Key(pattern: pattern, options: options)
        if let cached = matches[key] { return cached }
        let ignored = options.intersection(.diacriticInsensitive)
        let folded = pattern.folded(ignored, interruption)
        let isCaseInsensitive = options.contains(.caseInsensitive)
        let match = PatternMatch(
            try Self.compiled(folded, isCaseInsensitive: isCaseInsensitive), folding: ignored,
            // The literal of a pattern without case has several forms.
            literal: isCaseInsensitive ? [] : Self.longestLiteral(of: folded))
        if matches.count >= Self.patternsMax { matches.removeAll() }
        matches[key] = match
        return match
    }

    /// The longest literal that a regular expression requires, in UTF-8; empty if there is none.
    static func longestLiteral(of pattern: String) -> [UInt8] {
        RegularExpression.requiredTexts(of: pattern).map { Array($0.utf8) }
            .max { $0.count < $1.count } ?? []
    }

    /// Whether the whole text matches a regular expression.
    ///
    /// - Throws: `malformedPredicate` for a pattern that does not compile, `resourceExhausted` for
    ///   a match that exceeds a limit.
    package func matches(
        _ text: String, _ pattern: String, _ options: Comparison.Options
    ) throws(LarderError) -> Bool {
        try match(pattern, options).holds(Array(text.utf8).span, interruption)
    }

    /// Throws the error of a malformed pattern, before any row is read.
    package static func check(_ pattern: String) throws(LarderError) {
        _ = try compiled(pattern, isCaseInsensitive: false)
    }

    private static func compiled(
        _ pattern: String, isCaseInsensitive: Bool
    ) throws(LarderError) -> RegularExpression {
        do throws(RegularExpression.Problem) {
            return try RegularExpression(pattern, caseInsensitive: isCaseInsensitive)
        } catch {
            let location = error.offset.map { " at byte \($0) of the pattern" } ?? ""
            throw LarderError(
                .malformedPredicate,
                "the pattern of MATCHES is malformed\(location): \(error.message)"
            )
        }
    }
}

/// A pattern of `MATCHES`, compiled for many texts.
package final class PatternMatch {
    private let expression: RegularExpression
    private let folder: TextFolder
    private let literal: ByteSearch

    /// - Parameter literal: Bytes that every matching text contains; may be empty.
    package init(_ expression: RegularExpression, folding: Comparison.Options, literal: [UInt8]) {
        self.expression = expression
        folder = TextFolder(folding)
        self.literal = ByteSearch(literal)
    }

    /// Whether the whole text matches.
    ///
    /// - Throws: `resourceExhausted` for a match that exceeds a limit.
    package func holds(
        _ text: Span<UInt8>, _ interruption: Interruption
    ) throws(LarderError) -> Bool {
        if let folded = folder.folded(text, interruption) {
            return try holds(folded: folded.span, interruption)
        }
        return try holds(folded: text, interruption)
    }

    private func holds(
        folded text: Span<UInt8>, _ interruption: Interruption
    ) throws(LarderError) -> Bool {
        var searching = interruption
        guard literal.offset(in: text, from: 0, &searching) != nil else { return false }
        do throws(RegularExpression.Problem) {
            return try text.withUnsafeBytes { bytes throws(RegularExpression.Problem) in
                try expression.matchesWhole(bytes, interruption)
            }
        } catch {
            throw LarderError(
                .resourceExhausted, "a match with MATCHES takes too long (\(error.message))",
                hint: "write the pattern so that it has fewer ways to match")
        }
    }
}
