public import SwiftData

/// An object that converts to a value: a model, or a mock that is made of a value alone.
public protocol ConvertibleValueObservableObject<Value>: AnyObject, Equatable {
    associatedtype Value: BaseValueProtocol

    /// The identity of the object's value.
    var wrappedID: WrappedID { get }

    /// The value of the object as it is now; nil if the object does not exist any more.
    func convertToValueType() -> Value?
}

extension ConvertibleValueObservableObject where Self: PersistentModel {
    public var wrappedID: WrappedID { .objectID(persistentModelID) }
}

/// A mock of an object, made of a value, whose members it has.
@dynamicMemberLookup
public protocol TestableConvertibleValueObservableObject<WrappedValue>:
    ConvertibleValueObservableObject
where WrappedValue: BaseValueProtocol, Value == WrappedValue {
    associatedtype WrappedValue

    init(_ wrappedValue: WrappedValue)

    var _wrappedValue: WrappedValue { get set }

    subscript<Member>(
        dynamicMember keyPath: WritableKeyPath<WrappedValue, Member>
    ) -> Member { get set }
}

extension TestableConvertibleValueObservableObject {
    public var wrappedID: WrappedID { _wrappedValue.id }

    public subscript<Member>(
        dynamicMember keyPath: WritableKeyPath<WrappedValue, Member>
    ) -> Member {
        get { _wrappedValue[keyPath: keyPath] }
        set { _wrappedValue[keyPath: keyPath] = newValue }
    }

    public func update(_ value: WrappedValue) { _wrappedValue = value }

    public func convertToValueType() -> WrappedValue? { _wrappedValue }

    public static func == (left: Self, right: Self) -> Bool {
        left._wrappedValue == right._wrappedValue
    }
}

/// An object that converts to a value, of whatever type: a view takes one, and shows models and
/// mocks alike.
public final class AnyConvertibleValueObservableObject<Value: BaseValueProtocol>: Identifiable {
    private let object: any ConvertibleValueObservableObject<Value>

    public init(_ object: some ConvertibleValueObservableObject<Value>) { self.object = object }

    public var id: WrappedID { object.wrappedID }

    /// The value as it is now; nil if the object does not exist any more.
    public var wrappedValue: Value? { object.convertToValueType() }
}

extension AnyConvertibleValueObservableObject: Equatable {
    public static func == (
        left: AnyConvertibleValueObservableObject, right: AnyConvertibleValueObservableObject
    )
        -> Bool
    {
        left.id == right.id && left.wrappedValue == right.wrappedValue
    }
}

extension ConvertibleValueObservableObject {
    public func eraseToAny() -> AnyConvertibleValueObservableObject<Value> {
        AnyConvertibleValueObservableObject(self)
    }
}
