import Foundation
import SwiftData

/// A store of one JSON file, as programs write them: it reads and writes the whole file, and leaves
/// predicates and orders to the context.
final class JSONStore: DataStore, HistoryProviding {
    typealias Configuration = JSONStoreConfiguration
    typealias Snapshot = DefaultSnapshot
    typealias HistoryType = JSONTransaction

    struct Refusal: Error, Equatable { let reason: String }

    let configuration: JSONStoreConfiguration
    let schema: Schema
    let identifier: String

    init(
        _ configuration: JSONStoreConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?
    ) throws {
        guard let schema = configuration.schema else { throw Refusal(reason: "no schema") }
        self.configuration = configuration
        self.schema = schema
        identifier = configuration.fileURL.lastPathComponent
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if configuration.returnsForeignObjects {
            let foreign = try PersistentIdentifier.identifier(
                for: "another", entityName: Schema.entityName(for: T.self), primaryKey: 1)
            let snapshots = try read().values.map { $0.copy(persistentIdentifier: foreign) }
            return DataStoreFetchResult(
                descriptor: request.descriptor, fetchedSnapshots: snapshots)
        }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        let all = try read()
        let name = Schema.entityName(for: T.self)
        return DataStoreFetchResult(
            descriptor: request.descriptor,
            fetchedSnapshots: all.values.filter {
                configuration.returnsAllEntities || $0.persistentIdentifier.entityName == name
            })
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        if let reason = configuration.refusal { throw Refusal(reason: reason) }
        var all = try read()
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            let temporary = snapshot.persistentIdentifier
            remapped[temporary] = try PersistentIdentifier.identifier(
                for: identifier, entityName: temporary.entityName, primaryKey: UUID())
        }
        for snapshot in request.inserted + request.updated {
            let identifier =
                remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            all[identifier] = snapshot.copy(
                persistentIdentifier: identifier, remappedIdentifiers: remapped)
        }
        for snapshot in request.deleted { all[snapshot.persistentIdentifier] = nil }
        try JSONEncoder().encode(Array(all.values)).write(to: configuration.fileURL)
        configuration.log.add(author: request.editingState.author, identifier)
        return DataStoreSaveChangesResult(
            for: identifier, remappedIdentifiers: configuration.forgetsIdentifiers ? [:] : remapped)
    }

    private func read() throws -> [PersistentIdentifier: DefaultSnapshot] {
        guard FileManager.default.fileExists(atPath: configuration.fileURL.path) else { return [:] }
        let snapshots = try JSONDecoder().decode(
            [DefaultSnapshot].self, from: Data(contentsOf: configuration.fileURL))
        return Dictionary(uniqueKeysWithValues: snapshots.map { ($0.persistentIdentifier, $0) })
    }

    func fetchHistory(
        _ descriptor: HistoryDescriptor<JSONTransaction>
    ) throws -> [JSONTransaction] {
        try configuration.log.transactions.filter { try descriptor.predicate?.evaluate($0) ?? true }
    }

    func deleteHistory(_ descriptor: HistoryDescriptor<JSONTransaction>) throws {
        configuration.log.transactions = []
    }
}

struct JSONStoreConfiguration: DataStoreConfiguration {
    typealias Store = JSONStore

    let name: String
    var schema: Schema?
    let fileURL: URL
    let log = JSONLog()
    var refusal: String?
    var forgetsIdentifiers = false
    var returnsAllEntities = false
    var returnsForeignObjects = false

    init(_ fileURL: URL) {
        name = "JSON"
        self.fileURL = fileURL
    }

    static func == (left: Self, right: Self) -> Bool { left.fileURL == right.fileURL }
    func hash(into hasher: inout Hasher) { hasher.combine(fileURL) }
}

/// The transactions of a store, in memory.
final class JSONLog {
    var transactions: [JSONTransaction] = []

    func add(author: String?, _ storeIdentifier: String) {
        let number = transactions.count + 1
        transactions.append(
            JSONTransaction(token: number, storeIdentifier: storeIdentifier, author: author))
    }
}

struct JSONTransaction: HistoryTransaction {
    struct Token: Comparable, Hashable, Identifiable, Sendable {
        let id: Int
        static func < (left: Token, right: Token) -> Bool { left.id < right.id }
    }

    var timestamp = Date()
    var changes: [HistoryChange] = []
    let token: Token
    let transactionIdentifier: Int
    let storeIdentifier: String
    let author: String?
    var id: Int { transactionIdentifier }

    init(token: Int, storeIdentifier: String, author: String?) {
        self.token = Token(id: token)
        transactionIdentifier = token
        self.storeIdentifier = storeIdentifier
        self.author = author
    }

    static func == (left: Self, right: Self) -> Bool { left.id == right.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
