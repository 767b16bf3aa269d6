internal import CoreDataPredicates
public import Foundation
internal import LarderClient
internal import LarderModel
internal import LarderObjects

/// How a container opens a store.
///
/// Sendable unchecked: a program changes it before it opens the store.
open class NSPersistentStoreDescription: NSObject, @unchecked Sendable {
    /// ``NSSQLiteStoreType`` or ``NSInMemoryStoreType``.
    open var type = NSSQLiteStoreType
    /// The file, or the socket of a server. A store at `/dev/null` is in memory.
    open var url: URL?
    /// The entities of the store by the name of a configuration of the model; nil for all.
    open var configuration: String?
    /// It has no effect: a store is open when the call that opens it returns.
    open var shouldAddStoreAsynchronously = false
    open private(set) var options: [String: NSObject] = [:]

    public init(url: URL) { self.url = url }

    public override init() {}

    open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    open var isReadOnly: Bool {
        get { bool(NSReadOnlyPersistentStoreOption) ?? false }
        set { setOption(NSNumber(value: newValue), forKey: NSReadOnlyPersistentStoreOption) }
    }

    /// How many seconds a call waits for the process that serves the store.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 10 }
        set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
    }

    open var shouldMigrateStoreAutomatically: Bool {
        get { bool(NSMigratePersistentStoresAutomaticallyOption) ?? true }
        set {
            setOption(
                NSNumber(value: newValue), forKey: NSMigratePersistentStoresAutomaticallyOption)
        }
    }

    open var shouldInferMappingModelAutomatically: Bool {
        get { bool(NSInferMappingModelAutomaticallyOption) ?? true }
        set {
            setOption(NSNumber(value: newValue), forKey: NSInferMappingModelAutomaticallyOption)
        }
    }

    private func bool(_ key: String) -> Bool? { (options[key] as? NSNumber)?.boolValue }

    var postsRemoteChanges: Bool {
        bool(NSPersistentStoreRemoteChangeNotificationPostOptionKey) ?? false
    }

    var isInMemory: Bool { type == NSInMemoryStoreType || url?.path == "/dev/null" }

    private func stagedMigration(to schema: Schema) throws -> StagedMigration? {
        let option = self.options[NSPersistentStoreStagedMigrationManagerOptionKey]
        return try (option as? NSStagedMigrationManager)?.migration(to: schema)
    }

    /// Opens the store.
    ///
    /// - Throws: errors of the store; `unsupported` for an option without its meaning.
    func open(_ schema: Schema) throws -> any ObjectStore {
        guard type == NSSQLiteStoreType || type == NSInMemoryStoreType else {
            throw LarderError(
                .unsupported, "a store of the type \(type) is not supported",
                hint: "use NSSQLiteStoreType or NSInMemoryStoreType")
        }
        for key in [
            NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
            NSPersistentHistoryTrackingKey,
        ] where bool(key) == false {
            throw LarderError(
                .unsupported, "the option \(key) cannot be false", hint: "leave it out")
        }
        if isInMemory { return try EngineStore(schema, isReadOnly: isReadOnly) }
        guard let url, url.isFileURL else {
            throw LarderError(
                .unsupported, "the description of a store has no URL of a file",
                hint: "set its url")
        }
        var options = StoreFileOptions()
        options.migration = try stagedMigration(to: schema)
        options.client.isReadOnly = isReadOnly
        options.client.name = StorePath.programName
        options.waitTimeMax = .seconds(min(max(timeout.isFinite ? timeout : 10, 0.001), 86_400))
        if !isReadOnly { try StorePath.createFolder(of: url.path) }
        return try StoreFile.open(path: url.path, schema: schema, options: options)
    }
}
