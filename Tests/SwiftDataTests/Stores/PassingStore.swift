import Foundation
import SwiftData

/// A store that passes on to a default store what it is asked for, and logs it.
final class PassingStore: DataStore, DataStoreBatching, HistoryProviding {
    typealias Configuration = PassingConfiguration
    typealias Snapshot = DefaultSnapshot
    typealias HistoryType = DefaultHistoryTransaction

    let configuration: PassingConfiguration
    private let store: DefaultStore
    private var log: StoreLog { configuration.log }
    var identifier: String { store.identifier }
    var schema: Schema { store.schema }

    init(
        _ configuration: PassingConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?
    ) throws {
        self.configuration = configuration
        store = try configuration.open(migrationPlan)
    }

    func fetch<T>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
        log.lines.append("fetch \(T.self)")
        return try store.fetch(request)
    }

    func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int
    where T: PersistentModel {
        log.lines.append("fetchCount \(T.self)")
        return try store.fetchCount(request)
    }

    func fetchIdentifiers<T>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] where T: PersistentModel {
        log.lines.append("fetchIdentifiers \(T.self)")
        return try store.fetchIdentifiers(request)
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        for (verb, snapshots) in [
            ("insert", request.inserted), ("update", request.updated), ("delete", request.deleted),
        ] where !snapshots.isEmpty {
            let names = snapshots.map(\.entityName).sorted().joined(separator: " ")
            log.lines.append("\(verb) \(names)")
        }
        return try store.save(request)
    }

    func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel {
        log.lines.append("delete all \(T.self)")
        try store.delete(request)
    }

    func erase() throws { try store.erase() }

    func initializeState(for editingState: EditingState) {
        store.initializeState(for: editingState)
    }

    func invalidateState(for editingState: EditingState) {
        store.invalidateState(for: editingState)
    }

    func cachedSnapshots(
        for identifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        try store.cachedSnapshots(for: identifiers, editingState: editingState)
    }

    func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] { try store.fetchHistory(descriptor) }

    func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        try store.deleteHistory(descriptor)
    }
}

struct PassingConfiguration: DataStoreConfiguration {
    typealias Store = PassingStore

    let name: String
    var schema: Schema?
    let log = StoreLog()
    private let source: Source

    private enum Source {
        case store(DefaultStore)
        case file(URL)
    }

    /// A default store that is open.
    init(_ store: DefaultStore) {
        name = store.name
        source = .store(store)
    }

    /// A file that the store opens.
    init(_ name: String, url: URL) {
        self.name = name
        source = .file(url)
    }

    fileprivate func open(_ migrationPlan: (any SchemaMigrationPlan.Type)?) throws -> DefaultStore {
        switch source {
        case .store(let store): store
        case .file(let url):
            try DefaultStore(
                ModelConfiguration(name, schema: schema, url: url), migrationPlan: migrationPlan)
        }
    }

    static func == (left: Self, right: Self) -> Bool { left.log === right.log }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(log)) }
}

/// The calls of a store, a line each.
final class StoreLog {
    var lines: [String] = []
}
