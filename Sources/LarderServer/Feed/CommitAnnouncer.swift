import Synchronization

/// Tells the event loops that transactions have been committed.
final class CommitAnnouncer: Sendable {
    private let feeds: [LoopFeed]
    private let liveQueries: LiveQueries?

    init(_ feeds: [LoopFeed], _ liveQueries: LiveQueries? = nil) {
        self.feeds = feeds
        self.liveQueries = liveQueries
    }

    /// Called by the writer's thread after a commit. Without a stream that follows the history this
    /// reads one number per event loop, and one for the observed queries.
    ///
    /// - Parameter number: The last transaction of the commit.
    func announce(_ number: Int64) {
        for feed in feeds { feed.announce(number) }
        liveQueries?.announce(number)
    }
}
