internal import Foundation

extension NSManagedObjectContext {
    /// When an asynchronous closure is run.
    public enum ScheduledTaskType: Sendable {
        /// At once if the caller is on the queue of the context.
        case immediate
        /// After what is in the queue.
        case enqueued
    }

    /// Runs a closure on the queue of the context, later, and processes pending changes after it.
    public func perform(_ block: @escaping @Sendable () -> Void) {
        contextQueue.async { [self] in
            block()
            eventDidEnd()
        }
    }

    /// Runs a closure on the queue of the context, and waits for it. It may be called on the queue.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        try contextQueue.sync(block)
    }

    /// Runs a closure on the queue of the context, without blocking a thread of the caller, and
    /// processes pending changes after it.
    public func perform<T: Sendable>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () throws -> T
    ) async throws -> T {
        if schedule == .immediate, contextQueue.isCurrent { return try block() }
        return try await withCheckedThrowingContinuation { continuation in
            contextQueue.async { [self] in
                let result = Result { try block() }
                eventDidEnd()
                continuation.resume(with: result)
            }
        }
    }

    /// Runs a closure that throws nothing on the queue of the context.
    public func perform<T: Sendable>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () -> T
    ) async -> T {
        if schedule == .immediate, contextQueue.isCurrent { return block() }
        return await withCheckedContinuation { continuation in
            contextQueue.async { [self] in
                let result = block()
                eventDidEnd()
                continuation.resume(returning: result)
            }
        }
    }
}
