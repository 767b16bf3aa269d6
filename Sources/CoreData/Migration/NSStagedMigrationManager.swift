internal import CoreDataPredicates
public import Foundation
internal import LarderClient
internal import LarderModel
internal import LarderObjects
internal import Synchronization

/// A version of a model, with its checksum.
///
/// Sendable unchecked: it is immutable, but for the model, which a program does not change.
public final class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
    /// The expected ``NSManagedObjectModel/versionChecksum``.
    public let versionChecksum: String
    private let model: NSManagedObjectModel?
    private let source: String

    public init(model: NSManagedObjectModel, versionChecksum: String) {
        self.model = model
        self.versionChecksum = versionChecksum
        source = "the model"
    }

    /// A reference to a model file, such as one version in an `.xcdatamodeld` folder.
    public init(fileURL: URL, versionChecksum: String) {
        model = NSManagedObjectModel(contentsOf: fileURL)
        self.versionChecksum = versionChecksum
        source = fileURL.path
    }

    /// The model; one without entities if it cannot be read.
    public var resolvedModel: NSManagedObjectModel { model ?? NSManagedObjectModel() }

    /// The schema of the model.
    ///
    /// - Throws: an `NSError` for a model that cannot be read, or that has another checksum.
    func schema() throws -> Schema {
        guard let model else {
            throw NSError.coreData(
                LarderError(.malformedSchema, "\(source) is no model that can be read"),
                code: NSManagedObjectModelReferenceNotFoundError)
        }
        let schema = try translating { () throws(LarderError) in try model.compile().schema }
        guard schema.fingerprint == versionChecksum else {
            throw NSError.coreData(
                LarderError(
                    .malformedSchema,
                    "the checksum of \(source) is \(schema.fingerprint), not \(versionChecksum)"),
                code: NSManagedObjectModelReferenceNotFoundError)
        }
        return schema
    }
}

extension NSManagedObjectModel {
    /// A text that two models have in common if a store of one is a store of the other; empty if
    /// the model has a mistake.
    public var versionChecksum: String { (try? compile().schema.fingerprint) ?? "" }
}

/// A step of a staged migration.
///
/// Sendable unchecked: a program changes it before it opens the store.
open class NSMigrationStage: NSObject, @unchecked Sendable {
    /// A name for errors.
    open var label: String?

    override init() {}
}

/// Versions between which a migration is inferred.
open class NSLightweightMigrationStage: NSMigrationStage, @unchecked Sendable {
    // Sendable unchecked: as its superclass.

    public let versionChecksums: [String]

    /// - Parameter versionChecksums: The versions in their order. Each is that of the container's
    ///   model, or of a model of another stage.
    public init(_ versionChecksums: [String]) { self.versionChecksums = versionChecksums }
}

/// A migration from one version to the next with code before and after it.
open class NSCustomMigrationStage: NSMigrationStage, @unchecked Sendable {
    // Sendable unchecked: as its superclass.

    public typealias Handler =
        @Sendable (NSStagedMigrationManager, NSCustomMigrationStage) throws
        -> Void

    public let currentModel: NSManagedObjectModelReference
    public let nextModel: NSManagedObjectModelReference
    /// Called with a container of the store as it was.
    open var willMigrateHandler: Handler?
    /// Called with a container of the store as it is after the migration.
    open var didMigrateHandler: Handler?

    public init(
        migratingFrom currentModel: NSManagedObjectModelReference,
        to nextModel: NSManagedObjectModelReference
    ) {
        self.currentModel = currentModel
        self.nextModel = nextModel
    }
}

/// The stages by which a store gets the container's model: all of them, or none if one throws.
///
/// Set it as ``NSPersistentStoreStagedMigrationManagerOptionKey`` of a store's description.
///
/// Sendable unchecked: the stages are immutable, and the container is under a lock.
public final class NSStagedMigrationManager: NSObject, @unchecked Sendable {
    public let stages: [NSMigrationStage]
    private let current = Mutex<NSPersistentContainer?>(nil)

    public init(_ stages: [NSMigrationStage]) { self.stages = stages }

    /// In a handler, a container of the store at that moment.
    public var container: NSPersistentContainer? { current.withLock { $0 } }

    /// The stages of the store; nil if there are none.
    ///
    /// - Throws: an `NSError` for versions that are unknown, or do not lead from one to the next.
    func migration(to schema: Schema) throws -> StagedMigration? {
        var known = [schema.fingerprint: schema]
        for case let stage as NSCustomMigrationStage in stages {
            for schema in [try stage.currentModel.schema(), try stage.nextModel.schema()] {
                known[schema.fingerprint] = schema
            }
        }
        var all: [MigrationStage] = []
        var last: Schema?
        func add(_ from: Schema, _ to: Schema, _ custom: NSCustomMigrationStage?) {
            all.append(
                .custom(
                    from: from, to: to,
                    willMigrate: custom.flatMap { action($0, $0.willMigrateHandler, from) },
                    didMigrate: custom.flatMap { action($0, $0.didMigrateHandler, to) }))
            last = to
        }
        for stage in stages {
            if let custom = stage as? NSCustomMigrationStage {
                let from = try custom.currentModel.schema()
                // The versions between two stages are those of an inferred migration.
                if let last, last.fingerprint != from.fingerprint { add(last, from, nil) }
                add(from, try custom.nextModel.schema(), custom)
            } else if let lightweight = stage as? NSLightweightMigrationStage {
                for checksum in lightweight.versionChecksums {
                    guard let schema = known[checksum] else { throw Self.unknown(checksum, stage) }
                    if let last, last.fingerprint != checksum { add(last, schema, nil) }
                    last = schema
                }
            }
        }
        guard !all.isEmpty else { return nil }
        return try translating { () throws(LarderError) in try StagedMigration(all) }
    }

    private static func unknown(_ checksum: String, _ stage: NSMigrationStage) -> NSError {
        NSError.coreData(
            LarderError(
                .malformedSchema,
                "the stage \(stage.label ?? "without a label") has the version "
                    + "\(checksum.prefix(Limits.nameBytesMax)), which no model has",
                hint: "use versionChecksum of the container's model, or of one of another stage"),
            code: NSManagedObjectModelReferenceNotFoundError)
    }

    private func action(
        _ stage: NSCustomMigrationStage, _ handler: NSCustomMigrationStage.Handler?,
        _ schema: Schema
    ) -> MigrationStage.Action? {
        guard let handler else { return nil }
        return { [self] client in
            let store = try ClientStore(client, schema: schema)
            let model = NSManagedObjectModel(schema)
            let container = NSPersistentContainer(name: "Migration", managedObjectModel: model)
            try container.persistentStoreCoordinator.add(store)
            current.withLock { $0 = container }
            defer { current.withLock { $0 = nil } }
            try handler(self, stage)
        }
    }
}
