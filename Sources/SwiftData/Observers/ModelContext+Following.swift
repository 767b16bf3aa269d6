import Foundation
internal import LarderObjects
internal import Synchronization

extension ModelContext {
    /// Whether models without changes are refreshed after each commit of others, without a fetch.
    ///
    /// The main context refreshes them on the main actor, and the context of a model actor on the
    /// actor's executor; another context does so in the next call of its methods. Observation
    /// reports the properties that have changed. It is not part of SwiftData.
    public var followsChanges: Bool {
        get { objects.followsCommits }
        set {
            objects.followsCommits = newValue
            guard newValue else { return objects.announceCommits(nil) }
            let follower = ContextFollower(context: self)
            objects.announceCommits { [home] in home.schedule(follower) }
        }
    }
}

extension ModelContext {
    /// Calls a closure after each pending change of the context.
    ///
    /// - Returns: an object that ends the calls when it is released.
    package func observeChanges(
        _ body: @escaping @Sendable () -> Void
    ) -> any AnyObject & Sendable { listeners.add(body) }

    /// Runs a closure on the main actor for the main context, and on the executor of a model actor
    /// for its context.
    ///
    /// - Returns: false for another context; the closure is not run then.
    package func runAtHome(_ body: @escaping @Sendable () -> Void) -> Bool { home.run(body) }

    /// Makes whatever shows results of the context fetch again.
    package func announceChange() { listeners.call() }
}

/// Sendable unchecked: the context is used on the actor or the queue of its home only.
struct ContextFollower: @unchecked Sendable {
    weak var context: ModelContext?

    func follow() {
        context?.objects.applyCommitsOfOthers()
        context?.objects.announceChanges()
    }
}

/// Where a context works without being called.
final class ContextHome: Sendable {
    private enum Place {
        case callers
        case mainActor
        case queue(DispatchQueue)
    }

    private struct State {
        var place = Place.callers
        var isScheduled = false
    }

    private let state = Mutex(State())

    func moveToMainActor() { state.withLock { $0.place = .mainActor } }

    /// - Parameter queue: A serial queue on which the context is used.
    func move(to queue: DispatchQueue) {
        state.withLock { state in
            if case .callers = state.place { state.place = .queue(queue) }
        }
    }

    /// Applies commits of others once, however many were announced before.
    func schedule(_ follower: ContextFollower) {
        let place = state.withLock { state -> Place? in
            if case .callers = state.place { return nil }
            guard !state.isScheduled else { return nil }
            state.isScheduled = true
            return state.place
        }
        switch place {
        case .mainActor?:
            Task { @MainActor in
                begin()
                follower.follow()
            }
        case .queue(let queue)?:
            queue.async { [self] in
                begin()
                follower.follow()
            }
        case .callers?, nil: break
        }
    }

    /// Runs a closure where the context works.
    ///
    /// - Returns: false if it works for callers only, and the closure is not run.
    func run(_ body: @escaping @Sendable () -> Void) -> Bool {
        switch state.withLock({ $0.place }) {
        case .mainActor: Task { @MainActor in body() }
        case .queue(let queue): queue.async(execute: body)
        case .callers: return false
        }
        return true
    }

    private func begin() { state.withLock { $0.isScheduled = false } }
}

/// Closures that are called after pending changes of a context.
final class ChangeListeners: Sendable {
    private struct State {
        var bodies: [Int: @Sendable () -> Void] = [:]
        var nextNumber = 0
    }

    private let state = Mutex(State())
    /// Spares the lock for a change that nobody listens to.
    private let isUsed = Atomic(false)

    /// - Returns: an object that ends the calls when it is released.
    func add(_ body: @escaping @Sendable () -> Void) -> Ending {
        let number = state.withLock { state in
            defer { state.nextNumber += 1 }
            state.bodies[state.nextNumber] = body
            isUsed.store(true, ordering: .relaxed)
            return state.nextNumber
        }
        return Ending { [weak self] in
            guard let self else { return }
            state.withLock { state in
                state.bodies[number] = nil
                isUsed.store(!state.bodies.isEmpty, ordering: .relaxed)
            }
        }
    }

    func call() {
        guard isUsed.load(ordering: .relaxed) else { return }
        for body in state.withLock({ $0.bodies.values.map { $0 } }) { body() }
    }

    /// Runs a closure when it is released.
    final class Ending: Sendable {
        private let end: @Sendable () -> Void

        init(_ end: @escaping @Sendable () -> Void) { self.end = end }

        deinit { end() }
    }
}
