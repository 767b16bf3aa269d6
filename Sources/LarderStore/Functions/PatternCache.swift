import LarderModel

/// The compiled patterns of `LIKE` and `MATCHES`. There is one cache per connection.
final class PatternCache {
    private struct Key: Hashable {
        var pattern: String
        var isCaseInsensitive: Bool
    }

    private var expressions: [Key: RegularExpression] = [:]
    private var likePatterns: [String: LikePattern] = [:]

    /// A statement has few patterns, unless a column contains them.
    private static let patternsMax = 64

    /// The maximum number of steps of one match of LIKE. Usual patterns take one or two per
    /// character, so this is enough for the longest text.
    static let usualLikeStepsMax = 64 << 20
    private let likeStepsMax: Int

    private let interruption: Interruption

    init(
        _ interruption: Interruption = .never, likeStepsMax: Int = PatternCache.usualLikeStepsMax
    ) {
        self.interruption = interruption
        self.likeStepsMax = likeStepsMax
    }

    /// Whether the whole text matches a pattern of LIKE.
    ///
    /// - Throws: `resourceExhausted` for a match that exceeds the limit.
    func isLike(_ text: String, _ pattern: String) throws(LarderError) -> Bool {
        guard let isLike = likePattern(pattern).matches(text, stepsMax: likeStepsMax, interruption)
        else {
            throw LarderError(
                .resourceExhausted, "a match with LIKE takes too long",
                hint: "write the pattern so that it has fewer ways to match")
        }
        return isLike
    }

    private func likePattern(_ pattern: String) -> LikePattern {
        if let cached = likePatterns[pattern] { return cached }
        let compiled = LikePattern(pattern)
        if likePatterns.count >= Self.patternsMax { likePatterns.removeAll() }
        likePatterns[pattern] = compiled
        return compiled
    }

    /// Whether the whole text matches a regular expression.
    ///
    /// - Throws: `malformedPredicate` for a pattern that does not compile, `resourceExhausted` for
    ///   a match that exceeds a limit.
    func matches(
        _ text: String, _ pattern: String, _ options: Comparison.Options
    ) throws(LarderError) -> Bool {
        let ignored = options.intersection(.diacriticInsensitive)
        let expression = try expression(
            StringFunctions.folded(pattern, ignored), options.contains(.caseInsensitive))
        do throws(RegularExpression.Problem) {
            return try expression.matchesWhole(
                StringFunctions.folded(text, ignored, interruption), interruption)
        } catch {
            throw LarderError(
                .resourceExhausted, "a match with MATCHES takes too long (\(error.message))",
                hint: "write the pattern so that it has fewer ways to match")
        }
    }

    /// Throws the error of a malformed pattern, before any row is read.
    static func check(_ pattern: String) throws(LarderError) {
        _ = try compiled(pattern, isCaseInsensitive: false)
    }

    private func expression(
        _ pattern: String, _ isCaseInsensitive: Bool
    ) throws(LarderError) -> RegularExpression {
        let key = Key(pattern: pattern, isCaseInsensitive: isCaseInsensitive)
        if let cached = expressions[key] { return cached }
        let expression = try Self.compiled(pattern, isCaseInsensitive: isCaseInsensitive)
        if expressions.count >= Self.patternsMax { expressions.removeAll() }
        expressions[key] = expression
        return expression
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
