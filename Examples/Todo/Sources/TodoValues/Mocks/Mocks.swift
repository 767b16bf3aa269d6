public import LarderData

/// A group that no store has.
public final class MockGroup: TestableConvertibleValueObservableObject {
    public typealias WrappedValue = TodoGroup
    public var _wrappedValue: TodoGroup

    public init(_ wrappedValue: TodoGroup) { _wrappedValue = wrappedValue }
}

/// A task that no store has.
public final class MockTask: TestableConvertibleValueObservableObject {
    public typealias WrappedValue = TodoTask
    public var _wrappedValue: TodoTask

    public init(_ wrappedValue: TodoTask) { _wrappedValue = wrappedValue }
}
