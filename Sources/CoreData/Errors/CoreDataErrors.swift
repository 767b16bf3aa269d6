// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are those of Core Data.

public import Foundation

// The codes and keys of Core Data's errors, which have the domain `NSCocoaErrorDomain`.

public let NSManagedObjectValidationError = 1_550
public let NSValidationMultipleErrorsError = 1_560
public let NSValidationMissingMandatoryPropertyError = 1_570
public let NSValidationRelationshipLacksMinimumCountError = 1_580
public let NSValidationRelationshipExceedsMaximumCountError = 1_590
public let NSValidationRelationshipDeniedDeleteError = 1_600
public let NSValidationNumberTooLargeError = 1_610
public let NSValidationNumberTooSmallError = 1_620
public let NSValidationDateTooLateError = 1_630
public let NSValidationDateTooSoonError = 1_640
public let NSValidationStringTooLongError = 1_660
public let NSValidationStringTooShortError = 1_670
public let NSValidationStringPatternMatchingError = 1_680
public let NSManagedObjectReferentialIntegrityError = 133_000
public let NSManagedObjectMergeError = 133_020
public let NSManagedObjectConstraintMergeError = 133_021
public let NSPersistentStoreIncompatibleSchemaError = 134_020
public let NSCoreDataError = 134_060
public let NSPersistentStoreOpenError = 134_080
public let NSPersistentStoreTimeoutError = 134_090
public let NSPersistentStoreIncompatibleVersionHashError = 134_100
public let NSManagedObjectModelReferenceNotFoundError = 134_504
public let NSPersistentHistoryTokenExpiredError = 134_301

/// The errors of an error with the code ``NSValidationMultipleErrorsError``, an array.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The object that breaks a rule.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The name of the property that breaks a rule.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The value that breaks a rule.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// The condition that is not satisfied, an `NSPredicate`.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"

// The objects of a notification, a set each.

public let NSInsertedObjectsKey = "inserted"
public let NSUpdatedObjectsKey = "updated"
public let NSDeletedObjectsKey = "deleted"
public let NSRefreshedObjectsKey = "refreshed"
/// True after the context has forgotten all objects.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"

// The identifiers of objects in a notification, a set each.

public let NSInsertedObjectIDsKey = "inserted_objectIDs"
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
public let NSDeletedObjectIDsKey = "deleted_objectIDs"

extension Notification.Name {
    /// Posted by a context before a save.
    public static let NSManagedObjectContextWillSave = Notification.Name(
        "NSManagingContextWillSaveChangesNotification")
    /// Posted by a context after a save, with the objects in its `userInfo`.
    public static let NSManagedObjectContextDidSave = Notification.Name(
        "NSManagingContextDidSaveChangesNotification")
    /// Posted by a context when it has processed pending changes, with the objects in its
    /// `userInfo`: those of its own changes, and those that it has read again.
    public static let NSManagedObjectContextObjectsDidChange = Notification.Name(
        "NSObjectsChangedInManagingContextNotification")
    /// Posted by a coordinator after each commit of any process in one of its stores that was
    /// opened with ``NSPersistentStoreRemoteChangeNotificationPostOptionKey``.
    public static let NSPersistentStoreRemoteChange = Notification.Name(
        "NSPersistentStoreRemoteChangeNotification")
}

extension NSManagedObjectContext {
    public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
    public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
    public static let didChangeObjectsNotification =
        Notification.Name.NSManagedObjectContextObjectsDidChange

    /// The keys of the `userInfo` of these notifications.
    public enum NotificationKey: String, Sendable {
        case insertedObjects = "inserted"
        case updatedObjects = "updated"
        case deletedObjects = "deleted"
        case refreshedObjects = "refreshed"
        case invalidatedAllObjects = "invalidatedAll"
        case insertedObjectIDs = "inserted_objectIDs"
        case updatedObjectIDs = "updated_objectIDs"
        case deletedObjectIDs = "deleted_objectIDs"
    }
}
