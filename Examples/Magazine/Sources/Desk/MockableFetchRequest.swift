public import CoreData

/// The objects that a view lists: those of a request, or mocks in their place.
public struct MockableFetchRequest<Value: BaseValueProtocol> {
    private let source: () throws -> [AnyConvertibleValueObservableObject<Value>]

    public init<Object: NSManagedObject & ConvertibleValueObservableObject>(
        _ request: NSFetchRequest<Object>, in context: NSManagedObjectContext
    ) where Object.Value == Value {
        source = { try context.fetch(request).map { $0.eraseToAny() } }
    }

    public init(mocks: [AnyConvertibleValueObservableObject<Value>]) { source = { mocks } }

    /// The objects that exist now.
    public func objects() throws -> [AnyConvertibleValueObservableObject<Value>] { try source() }

    /// The values of those that can still be converted.
    public func values() throws -> [Value] { try source().compactMap(\.wrappedValue) }
}
