public import Foundation
public import SwiftData

/// The identity of a value, whether it comes from a store or from code that knows no store.
public enum WrappedID: Equatable, Identifiable, Sendable, Hashable {
    case string(String)
    case integer(Int)
    case uuid(UUID)
    case objectID(PersistentIdentifier)

    public var id: WrappedID { self }
}

/// A value that views show, instead of an object of a store.
public protocol BaseValueProtocol: Equatable, Identifiable, Sendable {
    var id: WrappedID { get }
}
