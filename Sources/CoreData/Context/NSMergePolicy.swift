// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are those of Core Data.

public import Foundation
internal import LarderModel
internal import LarderObjects

/// The kind of a merge policy.
public enum NSMergePolicyType: UInt, Sendable {
    case errorMergePolicyType = 0
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    case overwriteMergePolicyType = 3
    case rollbackMergePolicyType = 4
}

/// The rule of a save for properties that others have changed since they were read, and for objects
/// of others with the same unique values.
public final class NSMergePolicy: NSObject, Sendable {
    public let mergeType: NSMergePolicyType

    public init(merge ty: NSMergePolicyType) { mergeType = ty }

    /// The save is an error.
    public static let error = NSMergePolicy(merge: .errorMergePolicyType)
    /// A property that both have changed keeps the value of the store.
    public static let mergeByPropertyStoreTrump = NSMergePolicy(
        merge: .mergeByPropertyStoreTrumpMergePolicyType)
    /// A property that both have changed gets the value of the context. A new object updates the
    /// one that has its unique values.
    public static let mergeByPropertyObjectTrump = NSMergePolicy(
        merge: .mergeByPropertyObjectTrumpMergePolicyType)
    /// The object gets the values that the context has changed. A new object updates the one that
    /// has its unique values.
    public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
    /// The changes of an object that others have changed are discarded.
    public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)

    var conflicts: ConflictPolicy {
        switch mergeType {
        case .errorMergePolicyType: ConflictPolicy(merge: .error, unique: .error)
        case .mergeByPropertyStoreTrumpMergePolicyType:
            ConflictPolicy(merge: .storeWins, unique: .error)
        case .mergeByPropertyObjectTrumpMergePolicyType:
            ConflictPolicy(merge: .callerWins, unique: .upsert)
        case .overwriteMergePolicyType: ConflictPolicy(merge: .overwrite, unique: .upsert)
        case .rollbackMergePolicyType: ConflictPolicy(merge: .rollback, unique: .error)
        }
    }
}

public let NSErrorMergePolicy = NSMergePolicy.error
public let NSMergeByPropertyStoreTrumpMergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
public let NSMergeByPropertyObjectTrumpMergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
public let NSOverwriteMergePolicy = NSMergePolicy.overwrite
public let NSRollbackMergePolicy = NSMergePolicy.rollback
