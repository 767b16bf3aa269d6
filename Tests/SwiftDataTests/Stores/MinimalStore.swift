import Foundation
import SwiftData

/// A store with what the protocol requires, and nothing else.
final class MinimalStore: DataStore {
    struct Configuration: DataStoreConfiguration {
        typealias Store = MinimalStore

        var name = "minimal"
        var schema: Schema?
        var fileURL: URL
    }

    typealias Snapshot = DefaultSnapshot

    var configuration: Configuration
    var name: String
    var schema: Schema
    var identifier: String

    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        name = configuration.name
        schema = configuration.schema!
        identifier = configuration.fileURL.lastPathComponent
    }

    func fetch<T>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
        if request.descriptor.predicate != nil {
            throw DataStoreError.preferInMemoryFilter
        } else if request.descriptor.sortBy.count > 0 {
            throw DataStoreError.preferInMemorySort
        }
        let objects = try read()
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: Array(objects.values),
            relatedSnapshots: objects)
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        var objects = try read()
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            let permanent = try PersistentIdentifier.identifier(
                for: identifier, entityName: snapshot.persistentIdentifier.entityName,
                primaryKey: UUID())
            objects[permanent] = snapshot.copy(persistentIdentifier: permanent)
            remapped[snapshot.persistentIdentifier] = permanent
        }
        for snapshot in request.updated { objects[snapshot.persistentIdentifier] = snapshot }
        for snapshot in request.deleted { objects[snapshot.persistentIdentifier] = nil }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(Array(objects.values)).write(to: configuration.fileURL)
        return DataStoreSaveChangesResult<DefaultSnapshot>(
            for: identifier, remappedIdentifiers: remapped)
    }

    private func read() throws -> [PersistentIdentifier: DefaultSnapshot] {
        let path = configuration.fileURL.path(percentEncoded: false)
        guard FileManager.default.fileExists(atPath: path) else { return [:] }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let snapshots = try decoder.decode(
            [DefaultSnapshot].self, from: Data(contentsOf: configuration.fileURL))
        return Dictionary(uniqueKeysWithValues: snapshots.map { ($0.persistentIdentifier, $0) })
    }
}

@Model final class Trip {
    @Attribute(.unique) var name: String
    var start: Date
    var nights = 1
    var price = Decimal(0)

    init(name: String, start: Date, nights: Int = 1) {
        self.name = name
        self.start = start
        self.nights = nights
    }
}
