import LarderModel

/// The patterns of `LIKE` and `MATCHES`, read once for many rows. One a connection.
final class PatternCache {
    private struct Key: Hashable {
        var pattern: String
        var isCaseInsensitive: Bool
    }

    private var expressions: [Key: RegularExpression] = [:]
    private var likePatterns: [String: LikePattern] = [:]

    /// A statement has few patterns, unless they come out of a column.
    private static let patternsMax = 64

    /// Steps of one match of LIKE. A text takes one or two a character from any usual pattern, so
    /// this is beyond what is asked of the longest.
    static let usualLikeStepsMax = 64 << 20
    private let likeStepsMax: Int

    private let interruption: Interruption

    init(
        _ interruption: Interruption = .never, likeStepsMax: Int = PatternCache.usualLikeStepsMax
    ) {
        self.interruption = interruption
        self.likeStepsMax = likeStepsMax
    }

    /// Whether the whole text is of the pattern's form.
    ///
    /// - Throws: `resourceExhausted` for a match that takes more than it may.
    func isLike(_ text: String, _ pattern: String) throws(LarderError) -> Bool {
        let known = likePattern(pattern)
        guard let isLike = known.matches(text, stepsMax: likeStepsMax, interruption) else {
            throw LarderError(
                .resourceExhausted, "a match with LIKE takes too long",
                hint: "write the pattern so that it has fewer ways to match")
        }
        return isLike
    }

    private func likePattern(_ pattern: String) -> LikePattern {
        if let known = likePatterns[pattern] { return known }
        let read = LikePattern(pattern)
        if likePatterns.count >= Self.patternsMax { likePatterns.removeAll() }
        likePatterns[pattern] = read
        return read
    }

    /// Whether the whole text matches the pattern.
    ///
    /// - Throws: `malformedPredicate` for a pattern that does not compile, `resourceExhausted` for
    ///   a match that takes more than it may.
    func matches(
        _ text: String, _ pattern: String, _ options: Comparison.Options
    ) throws(LarderError) -> Bool {
        let ignored = options.intersection(.diacriticInsensitive)
        let expression = try expression(
            StringFunctions.folded(pattern, ignored), options.contains(.caseInsensitive))
        do throws(RegularExpression.Fault) {
            return try expression.matchesWhole(
                StringFunctions.folded(text, ignored, interruption), interruption)
        } catch {
            throw LarderError(
                .resourceExhausted, "a match with MATCHES takes too long (\(error.message))",
                hint: "write the pattern so that it has fewer ways to match")
        }
    }

    /// Says what is wrong with a pattern, before any row is asked.
    static func check(_ pattern: String) throws(LarderError) {
        _ = try compiled(pattern, isCaseInsensitive: false)
    }

    private func expression(
        _ pattern: String, _ isCaseInsensitive: Bool
    ) throws(LarderError) -> RegularExpression {
        let key = Key(pattern: pattern, isCaseInsensitive: isCaseInsensitive)
        if let known = expressions[key] { return known }
        let expression = try Self.compiled(pattern, isCaseInsensitive: isCaseInsensitive)
        if expressions.count >= Self.patternsMax { expressions.removeAll() }
        expressions[key] = expression
        return expression
    }

    private static func compiled(
        _ pattern: String, isCaseInsensitive: Bool
    ) throws(LarderError) -> RegularExpression {
        do throws(RegularExpression.Fault) {
            return try RegularExpression(pattern, caseInsensitive: isCaseInsensitive)
        } catch {
            let place = error.offset.map { " at byte \($0) of the pattern" } ?? ""
            throw LarderError(
                .malformedPredicate, "the pattern of MATCHES is malformed\(place): \(error.message)"
            )
        }
    }
}
