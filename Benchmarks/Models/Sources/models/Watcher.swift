import Foundation
import SwiftData

/// Observes a book while another process changes its number of pages to the time of the change.
@ModelActor actor Watcher {
    /// The number of pages that ends the watch.
    static let end = 0

    private var book: Book?
    private var times: [Double] = []
    private var ended: CheckedContinuation<Void, Never>?

    func begin() throws {
        times = []
        guard book == nil else { return }
        modelContext.followsChanges = true
        book = try modelContext.fetch(FetchDescriptor<Book>.first).first
        observe()
    }

    /// Waits for the end.
    ///
    /// - Returns: the median of the microseconds from a change, before its save, to Observation in
    ///   this process, and the number of changes that were seen.
    func result() async -> Main.Answer {
        if book?.pages != Self.end { await withCheckedContinuation { ended = $0 } }
        let sorted = times.sorted()
        return (sorted.isEmpty ? 0 : sorted[sorted.count / 2], Int64(sorted.count))
    }

    private func observe() {
        withObservationTracking {
            _ = book?.pages
        } onChange: { [weak self] in
            let seen = Main.nanoseconds
            Task { await self?.note(seen) }
        }
        guard book?.pages == Self.end else { return }
        ended?.resume()
        ended = nil
    }

    private func note(_ seen: Int) {
        if let changed = book?.pages, changed != Self.end {
            times.append(Double(seen - changed) / 1_000)
        }
        observe()
    }
}

extension FetchDescriptor<Book> {
    /// The first book.
    static var first: Self {
        var descriptor = Self(sortBy: [SortDescriptor(\.number)])
        descriptor.fetchLimit = 1
        return descriptor
    }
}
