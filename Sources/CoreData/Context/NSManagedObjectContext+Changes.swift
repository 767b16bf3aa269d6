internal import Foundation
internal import LarderObjects

// Changes are announced once for many of them: when pending changes are processed.

extension NSManagedObjectContext {
    private static var roundsMax: Int { 16 }

    /// Tells observers and controllers what has changed since the last call. They may change
    /// objects, which is announced after that.
    func announceChanges() {
        let objects = objects
        let isFirst = objects.locked {
            defer { isAnnouncing = true }
            return !isAnnouncing
        }
        guard isFirst else { return }
        defer { objects.locked { isAnnouncing = false } }
        for _ in 0..<Self.roundsMax {
            let first = objects.takeChanges()
            guard !first.isEmpty else { return }
            let controllers = objects.locked {
                self.controllers = self.controllers.filter { $0.results != nil }
                return self.controllers.compactMap(\.results)
            }
            let fetched = controllers.map { $0.refetched(after: first) }
            // The fetches may have found other values.
            let changes = first.merging(objects.takeChanges())
            post(changes)
            for (controller, new) in zip(controllers, fetched) {
                if let new { controller.show(new, changes) }
            }
        }
    }

    private func post(_ changes: ContextChanges) {
        var info: [AnyHashable: Any] = [:]
        let kinds: [(String, ContextChanges.Kind)] = [
            (NSInsertedObjectsKey, .inserted), (NSUpdatedObjectsKey, .updated),
            (NSDeletedObjectsKey, .deleted), (NSRefreshedObjectsKey, .refreshed),
        ]
        for (key, kind) in kinds {
            let changed = changes.objects(kind)
            if !changed.isEmpty { info[key] = Set(changed.map(managedObject)) }
        }
        if changes.isReset { info[NSInvalidatedAllObjectsKey] = true }
        guard !info.isEmpty else { return }
        NotificationCenter.default.post(
            name: .NSManagedObjectContextObjectsDidChange, object: self, userInfo: info)
    }

    /// Processes pending changes when the queue of the context is free. Contexts of other queues
    /// than the main one do so at the end of ``perform(_:)``.
    func scheduleProcessing() {
        guard owner != nil || concurrencyType == .mainQueueConcurrencyType else { return }
        // A program may never run the main queue.
        guard !isScheduled.exchange(true, ordering: .relaxed) else { return }
        let process: @Sendable () -> Void = { [weak self] in
            self?.isScheduled.store(false, ordering: .relaxed)
            self?.eventDidEnd()
        }
        if let owner {
            if !owner.schedule(process) { isScheduled.store(false, ordering: .relaxed) }
        } else {
            contextQueue.async(process)
        }
    }

    /// Called after code of the program has run on the queue. A context of another module processes
    /// its changes itself.
    func eventDidEnd() {
        if owner == nil { processPendingChanges() } else { announceChanges() }
    }

    /// Called after a context whose parent this one is has made its changes changes of this one.
    func childDidSave() {
        if let owner {
            owner.didChange()
            scheduleProcessing()
        } else {
            contextQueue.async { [weak self] in self?.eventDidEnd() }
        }
    }

    /// Tells a controller what changes from now on.
    func add(_ results: FetchedResults) {
        objects.locked {
            controllers = controllers.filter { $0.results != nil && $0.results !== results }
            controllers.append(WeakResults(results: results))
        }
    }
}

struct WeakResults { weak var results: FetchedResults? }
