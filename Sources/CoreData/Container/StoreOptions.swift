// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are those of Core Data.

/// A store in a file of SQLite, or at the socket of a `larderd`.
public let NSSQLiteStoreType = "SQLite"
/// A store in memory.
public let NSInMemoryStoreType = "InMemory"

/// Whether the store rejects changes of this program, a Bool.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// How long a call waits for the process that serves the store, a number of seconds.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Whether a store of another model is migrated, a Bool. Stores always are, so that false is an
/// error.
public let NSMigratePersistentStoresAutomaticallyOption =
    "NSMigratePersistentStoresAutomaticallyOption"
/// Whether a migration is inferred, a Bool. It always is, so that false is an error.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Whether the store has a history, a Bool. It always has one, so that false is an error.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTracking"
/// The ``NSStagedMigrationManager`` by whose stages a store of an earlier model is migrated.
public let NSPersistentStoreStagedMigrationManagerOptionKey =
    "NSPersistentStoreStagedMigrationManagerOptionKey"
/// Whether ``Foundation/Notification/Name/NSPersistentStoreRemoteChange`` is posted, a Bool.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
    "NSPersistentStoreRemoteChangeNotificationOptionKey"
