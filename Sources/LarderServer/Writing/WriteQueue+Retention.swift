import FoundationEssentials
import LarderModel
import NIOCore

/// The history that the queue deletes by itself.
extension WriteQueue {
    /// Deletes the transactions that the retention does not keep, now and at intervals.
    func startRetention() {
        guard limits.historyRetention != HistoryRetention() else { return }
        eventLoop.scheduleTask(in: .zero) { self.retain() }
    }

    private func retain() {
        if isClosed { return }
        deleteHistory(limits.historyRetention.deletions(at: Date())[...])
    }

    /// Does the deletions one after the other, and then waits for the next interval.
    private func deleteHistory(_ deletions: ArraySlice<HistoryDeletion>) {
        guard let deletion = deletions.first else {
            eventLoop.scheduleTask(in: TimeAmount(limits.historyRetentionInterval)) {
                self.retain()
            }
            return
        }
        append(
            .deletion(
                Deletion(deletion, for: Self.ownUser, deadline: .distantFuture) { _ in
                    // After an error it is tried again at the next interval.
                    self.deleteHistory(deletions.dropFirst())
                }))
    }

    /// The server itself, as one of the users.
    static let ownUser = UInt32.max
}
