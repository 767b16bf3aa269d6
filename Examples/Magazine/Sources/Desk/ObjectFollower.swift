public import CoreData
internal import Foundation

extension DeskStore {
    /// The value of an object of the view context, now and after each change by any context or
    /// process. The sequence ends when the object does not exist any more.
    @MainActor
    public func values<Object: NSManagedObject & ConvertibleValueObservableObject>(
        of object: Object
    ) -> AsyncStream<Object.Value> {
        let (values, continuation) = AsyncStream<Object.Value>.makeStream()
        let follower = ObjectFollower(object, container.viewContext, continuation)
        let observer = Observer(
            token: NotificationCenter.default.addObserver(
                forName: .NSPersistentStoreRemoteChange,
                object: container.persistentStoreCoordinator, queue: nil
            ) { _ in Task { @MainActor in follower.update() } })
        continuation.onTermination = { _ in
            NotificationCenter.default.removeObserver(observer.token)
        }
        follower.update()
        return values
    }
}

/// Sends the values of an object.
@MainActor
private final class ObjectFollower<Object: NSManagedObject & ConvertibleValueObservableObject> {
    private let object: Object
    private let context: NSManagedObjectContext
    private let continuation: AsyncStream<Object.Value>.Continuation
    private var last: Object.Value?

    init(
        _ object: Object, _ context: NSManagedObjectContext,
        _ continuation: AsyncStream<Object.Value>.Continuation
    ) {
        self.object = object
        self.context = context
        self.continuation = continuation
    }

    func update() {
        // It is read from the store: the context may learn of the commit later.
        guard (try? context.existingObject(with: object.objectID)) != nil,
            let value = object.convertToValueType()
        else { return continuation.finish() }
        if value != last { continuation.yield(value) }
        last = value
    }
}

/// Sendable unchecked: the notification center takes it from any thread.
private struct Observer: @unchecked Sendable { let token: any NSObjectProtocol }

/// A value of an object for a view: the current one, and after the deletion the last one.
@MainActor
public final class DetailView<Object: ConvertibleValueObservableObject> {
    private let object: Object
    private var last: Object.Value?

    public init(_ object: Object) {
        self.object = object
        last = object.convertToValueType()
    }

    /// The value, or the last one of an object that was deleted; nil if there never was one.
    public var shown: Object.Value? {
        if let value = object.convertToValueType() { last = value }
        return last
    }

    /// Whether the shown value is not that of an object any more.
    public var isDeleted: Bool { object.convertToValueType() == nil }
}
