internal import Foundation
public import SwiftData

/// A fetch whose source is a context, or a list of mocks: code above the store is tested and
/// previewed with mocks, and runs unchanged over a store.
public struct MockableFetch<Value: BaseValueProtocol> {
    private let source: () throws -> [AnyConvertibleValueObservableObject<Value>]

    /// Models of a context.
    public init<Model: PersistentModel & ConvertibleValueObservableObject>(
        _ descriptor: FetchDescriptor<Model>, in context: ModelContext
    ) where Model.Value == Value {
        source = { try context.fetch(descriptor).map { $0.eraseToAny() } }
    }

    /// The results of an observer, which fetches again after changes: code that reads the objects
    /// observes them as well. It belongs to the actor of the observer.
    public init<Model: PersistentModel & ConvertibleValueObservableObject>(
        _ observer: ResultsObserver<Model, Never>
    ) where Model.Value == Value {
        source = { observer.results.map { $0.eraseToAny() } }
    }

    /// Mocks, in this order.
    public init(mocks: [AnyConvertibleValueObservableObject<Value>]) { source = { mocks } }

    /// The objects as they are now.
    ///
    /// - Throws: errors of the context's fetch.
    public func objects() throws -> [AnyConvertibleValueObservableObject<Value>] { try source() }

    /// The values of the objects that exist.
    public func values() throws -> [Value] { try objects().compactMap(\.wrappedValue) }
}
