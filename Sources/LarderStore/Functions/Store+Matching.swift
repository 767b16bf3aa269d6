import LarderModel
import LarderQuery
import LarderSQL
import Synchronization

extension Store {
    /// The store's implementation of MATCHES, for an evaluator in memory. Used by one thread at a
    /// time; others wait.
    package static func makeMatcher() -> Evaluator.Matcher {
        let patterns = LockedPatterns()
        return { text, pattern, options throws(LarderError) in
            try patterns.matches(text, pattern, options)
        }
    }
}

private final class LockedPatterns: Sendable {
    private let cache = Mutex(PatternCache())

    func matches(
        _ text: String, _ pattern: String, _ options: Comparison.Options
    ) throws(LarderError) -> Bool {
        try cache.withLock { cache throws(LarderError) in
            try cache.matches(text, pattern, options)
        }
    }
}
