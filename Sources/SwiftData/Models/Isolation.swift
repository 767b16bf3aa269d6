public import LarderObjects

// Support for the code that the macro writes for a class that is isolated to a global actor. A
// context uses its models on its own thread, and describes their classes on any.

/// Calls a closure of a global actor on this thread. The closure forms key paths and notifies
/// observers; it must not use state of the actor.
public func _withoutIsolation<Isolated, Result>(
    _ isolated: Isolated, returning type: Result.Type
) -> Result {
    // The type of the closure differs by the actor alone, which has no part in a call.
    unsafeBitCast(isolated, to: (() -> Result).self)()
}

/// The object and the context of an instance.
///
/// Sendable unchecked: the thread or the actor of the context uses it, as all of the instance.
public final class _ModelStorage: @unchecked Sendable {
    public var object: StoredObject?
    public var context: ModelContext?
    public var lists: _ModelLists?

    public init() {}
}
