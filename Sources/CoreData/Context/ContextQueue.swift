internal import Foundation

/// The queue of a context.
final class ContextQueue: Sendable {
    private let queue: DispatchQueue
    private let isMain: Bool
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    init(isMain: Bool) {
        self.isMain = isMain
        queue = isMain ? .main : DispatchQueue(label: "CoreData.Context")
        if !isMain { queue.setSpecific(key: Self.key, value: ObjectIdentifier(self)) }
    }

    /// Whether the calling code runs on the queue.
    var isCurrent: Bool {
        isMain
            ? Thread.isMainThread
            : DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self)
    }

    func async(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    func sync<Result>(_ body: () throws -> Result) rethrows -> Result {
        if isCurrent { return try body() }
        return try queue.sync(execute: body)
    }
}
