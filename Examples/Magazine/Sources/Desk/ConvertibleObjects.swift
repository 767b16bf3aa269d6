/// An object that converts to a value: one of a store, or a mock.
public protocol ConvertibleValueObservableObject<Value>: AnyObject, Equatable {
    associatedtype Value: BaseValueProtocol

    var wrappedID: WrappedID { get }

    /// The value as it is now; nil if the object does not exist any more.
    func convertToValueType() -> Value?
}

/// An object that is made of a value, whose members it has.
@dynamicMemberLookup
public protocol TestableConvertibleValueObservableObject<WrappedValue>:
    ConvertibleValueObservableObject
where WrappedValue: BaseValueProtocol, Value == WrappedValue {
    associatedtype WrappedValue

    init(_ wrappedValue: WrappedValue)
    var _wrappedValue: WrappedValue { get set }
    func update(_ wrappedValue: WrappedValue)
    subscript<Member>(dynamicMember keyPath: WritableKeyPath<WrappedValue, Member>) -> Member {
        get set
    }
}

extension TestableConvertibleValueObservableObject {
    public var wrappedID: WrappedID { _wrappedValue.id }

    public func update(_ wrappedValue: WrappedValue) { _wrappedValue = wrappedValue }

    public func convertToValueType() -> WrappedValue? { _wrappedValue }

    public subscript<Member>(
        dynamicMember keyPath: WritableKeyPath<WrappedValue, Member>
    ) -> Member {
        get { _wrappedValue[keyPath: keyPath] }
        set { _wrappedValue[keyPath: keyPath] = newValue }
    }

    public static func == (left: Self, right: Self) -> Bool {
        left._wrappedValue == right._wrappedValue
    }
}

/// An object of either kind.
public final class AnyConvertibleValueObservableObject<Value: BaseValueProtocol>: Identifiable {
    public let object: any ConvertibleValueObservableObject<Value>

    public init(_ object: some ConvertibleValueObservableObject<Value>) { self.object = object }

    public var id: WrappedID { object.wrappedID }

    public var wrappedValue: Value? { object.convertToValueType() }
}

extension ConvertibleValueObservableObject {
    public func eraseToAny() -> AnyConvertibleValueObservableObject<Value> {
        AnyConvertibleValueObservableObject(self)
    }
}
