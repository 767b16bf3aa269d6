internal import Foundation

/// The queue of a context.
final class ContextQueue: Sendable {
    private let queue: DispatchQueue
    private let isMain: Bool
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    /// The main queue. On Linux its code need not run on the main thread, so it is marked.
    private static let main: DispatchQueue = {
        DispatchQueue.main.setSpecific(key: key, value: ObjectIdentifier(ContextQueue.self))
        return .main
    }()

    init(isMain: Bool) {
        self.isMain = isMain
        queue = isMain ? Self.main : DispatchQueue(label: "CoreData.Context")
        if !isMain { queue.setSpecific(key: Self.key, value: ObjectIdentifier(self)) }
    }

    /// Whether the calling code runs on the queue.
    var isCurrent: Bool {
        let current = DispatchQueue.getSpecific(key: Self.key)
        guard isMain else { return current == ObjectIdentifier(self) }
        return Thread.isMainThread || current == ObjectIdentifier(ContextQueue.self)
    }

    func async(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    func sync<Result>(_ body: () throws -> Result) rethrows -> Result {
        if isCurrent { return try body() }
        return try queue.sync(execute: body)
    }
}
