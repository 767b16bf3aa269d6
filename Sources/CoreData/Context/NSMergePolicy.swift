// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are those of Core Data.

public import Foundation
internal import LarderModel
internal import LarderObjects

/// The rule of a save for properties that others have changed since they were read, and for objects
/// of others with the same unique values.
public final class NSMergePolicy: NSObject, Sendable {
    private enum Kind { case error, storeTrump, objectTrump, overwrite, rollback }

    private let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// The save is an error.
    public static let error = NSMergePolicy(.error)
    /// A property that both have changed keeps the value of the store.
    public static let mergeByPropertyStoreTrump = NSMergePolicy(.storeTrump)
    /// A property that both have changed gets the value of the context. A new object updates the
    /// one that has its unique values.
    public static let mergeByPropertyObjectTrump = NSMergePolicy(.objectTrump)
    /// The object gets the values that the context has changed. A new object updates the one that
    /// has its unique values.
    public static let overwrite = NSMergePolicy(.overwrite)
    /// The changes of an object that others have changed are discarded.
    public static let rollback = NSMergePolicy(.rollback)

    var conflicts: ConflictPolicy {
        switch kind {
        case .error: ConflictPolicy(merge: .error, unique: .error)
        case .storeTrump: ConflictPolicy(merge: .storeWins, unique: .error)
        case .objectTrump: ConflictPolicy(merge: .callerWins, unique: .upsert)
        case .overwrite: ConflictPolicy(merge: .overwrite, unique: .upsert)
        case .rollback: ConflictPolicy(merge: .rollback, unique: .error)
        }
    }
}

public let NSErrorMergePolicy = NSMergePolicy.error
public let NSMergeByPropertyStoreTrumpMergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
public let NSMergeByPropertyObjectTrumpMergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
public let NSOverwriteMergePolicy = NSMergePolicy.overwrite
public let NSRollbackMergePolicy = NSMergePolicy.rollback
