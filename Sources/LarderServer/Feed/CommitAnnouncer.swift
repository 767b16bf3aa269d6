import Synchronization

/// Tells the event loops that transactions have been committed.
final class CommitAnnouncer: Sendable {
    private let feeds: [LoopFeed]

    init(_ feeds: [LoopFeed]) { self.feeds = feeds }

    /// Called by the writer's thread after a commit. Without a stream that follows the history this
    /// reads one number per event loop.
    ///
    /// - Parameter number: The last transaction of the commit.
    func announce(_ number: Int64) {
        for feed in feeds { feed.announce(number) }
    }
}
