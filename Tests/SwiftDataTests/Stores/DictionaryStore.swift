import Foundation
import SwiftData

@Model final class Studio {
    var name: String
    @Relationship(deleteRule: .nullify, inverse: \Film.studio) var films: [Film] = []

    init(name: String) { self.name = name }
}

@Model final class Film {
    var title: String
    var minutes = 0
    var genre: Genre = Genre.news
    var released: Date?
    var source: Source?
    var studio: Studio?

    init(title: String, minutes: Int = 0, studio: Studio? = nil) {
        self.title = title
        self.minutes = minutes
        self.studio = studio
    }
}

/// A snapshot of a type of its own: the properties of both models, some with other types.
struct FilmSnapshot: DataStoreSnapshot, Equatable {
    let persistentIdentifier: PersistentIdentifier
    var title: String?
    var minutes: Int16?
    /// The raw value of the model's enum.
    var genre: String?
    var released: Date?
    var source: Source?
    var studio: PersistentIdentifier?
    var name: String?
    var films: [PersistentIdentifier]?
    /// Not a property of a model.
    var shelf = "A"
    /// The name of the studio, if it is saved together with the film.
    var studioName: String?

    init(
        from backingData: any BackingData,
        relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
    ) {
        persistentIdentifier = backingData.persistentModelID!
        if let film = backingData as? any BackingData<Film> {
            title = film.getValue(forKey: \.title)
            minutes = Int16(film.getValue(forKey: \.minutes))
            genre = film.getValue(forKey: \.genre).rawValue
            released = film.getValue(forKey: \.released)
            source = film.getValue(forKey: \.source)
            studio = film.getValue(forKey: \.studio)?.persistentModelID
            let related = studio.flatMap { relatedBackingDatas[$0] }
            studioName = (related as? any BackingData<Studio>)?.getValue(forKey: \.name)
        }
        if let maker = backingData as? any BackingData<Studio> {
            name = maker.getValue(forKey: \.name)
            films = maker.getValue(forKey: \.films).map(\.persistentModelID)
        }
    }

    private init(_ other: Self, _ identifier: PersistentIdentifier) {
        persistentIdentifier = identifier
        (title, minutes, genre) = (other.title, other.minutes, other.genre)
        (released, source, studio) = (other.released, other.source, other.studio)
        (name, films, studioName) = (other.name, other.films, other.studioName)
    }

    func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> FilmSnapshot {
        var copy = FilmSnapshot(self, persistentIdentifier)
        let remapped = remappedIdentifiers ?? [:]
        copy.studio = studio.map { remapped[$0] ?? $0 }
        copy.films = films?.map { remapped[$0] ?? $0 }
        return copy
    }

    /// A model without a store, to which a predicate is applied.
    func model<T: PersistentModel>(_ type: T.Type) -> T? {
        if let title {
            let film = Film(title: title, minutes: Int(minutes ?? 0))
            film.released = released
            return film as? T
        }
        return name.flatMap { Studio(name: $0) as? T }
    }
}

/// A store in memory with snapshots of its own type, a history, and deletion by predicate.
final class DictionaryStore: DataStore, DataStoreBatching, HistoryProviding {
    typealias Configuration = DictionaryConfiguration
    typealias Snapshot = FilmSnapshot
    typealias HistoryType = DictionaryTransaction

    let configuration: DictionaryConfiguration
    let schema: Schema
    let identifier: String
    private let shelf: Cupboard

    init(
        _ configuration: DictionaryConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?
    ) throws {
        self.configuration = configuration
        schema = configuration.schema ?? Schema()
        identifier = configuration.name
        shelf = configuration.shelf
    }

    private func matching<T: PersistentModel>(
        _ type: T.Type, _ predicate: Predicate<T>?
    ) throws -> [FilmSnapshot] {
        let own = shelf.rows.values.filter {
            $0.persistentIdentifier.entityName == Schema.entityName(for: T.self)
        }
        guard let predicate else { return own }
        // A model without a store has no relationships and another identifier.
        if shelf.leavesPredicates { throw DataStoreError.preferInMemoryFilter }
        return try own.filter { try $0.model(type).map(predicate.evaluate) ?? false }
    }

    /// The snapshots in an order, with limit and offset.
    private func ordered<T: PersistentModel>(
        _ snapshots: [FilmSnapshot], _ descriptor: FetchDescriptor<T>
    ) throws -> [FilmSnapshot] {
        guard !descriptor.sortBy.isEmpty else { return snapshots }
        if !shelf.sorts { throw DataStoreError.preferInMemorySort }
        let models = snapshots.compactMap { snapshot in
            snapshot.model(T.self).map { ($0, snapshot) }
        }
        let sorted = models.sorted { left, right in
            let order = descriptor.sortBy.lazy.map { $0.compare(left.0, right.0) }
                .first { $0 != .orderedSame }
            return order == .orderedAscending
        }.map(\.1)
        return Array(
            sorted.dropFirst(descriptor.fetchOffset ?? 0)
                .prefix(descriptor.fetchLimit ?? sorted.count))
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, FilmSnapshot> {
        shelf.calls.append("fetch \(T.self)")
        shelf.predicates.append(request.descriptor.predicate as Any)
        if let failure = shelf.failure { throw failure }
        if !request.descriptor.sortBy.isEmpty, !shelf.sorts {
            throw DataStoreError.preferInMemorySort
        }
        let found = try ordered(
            matching(T.self, request.descriptor.predicate), request.descriptor)
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: shelf.alter(found))
    }

    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        shelf.calls.append("fetchCount \(T.self)")
        return try matching(T.self, request.descriptor.predicate).count + shelf.miscount
    }

    func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        shelf.calls.append("fetchIdentifiers \(T.self)")
        let found = try matching(T.self, request.descriptor.predicate)
        return shelf.alter(try ordered(found, request.descriptor))
            .map(\.persistentIdentifier)
    }

    func save(
        _ request: DataStoreSaveChangesRequest<FilmSnapshot>
    ) throws -> DataStoreSaveChangesResult<FilmSnapshot> {
        let counts = [request.inserted, request.updated, request.deleted].map(\.count)
        shelf.calls.append("save \(counts)")
        shelf.requests.append(request)
        if let failure = shelf.failure { throw failure }
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            remapped[snapshot.persistentIdentifier] = try .identifier(
                for: identifier, entityName: snapshot.persistentIdentifier.entityName,
                primaryKey: UUID())
        }
        var reregistered: [PersistentIdentifier: FilmSnapshot] = [:]
        for snapshot in request.inserted + request.updated {
            let new = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            var copy = snapshot.copy(persistentIdentifier: new, remappedIdentifiers: remapped)
            shelf.normalize?(&copy)
            if shelf.normalize != nil { reregistered[new] = copy }
            shelf.rows[new] = copy
        }
        for snapshot in request.deleted { shelf.rows[snapshot.persistentIdentifier] = nil }
        let token = shelf.record(
            request.editingState.author, identifier,
            request.inserted.compactMap { remapped[$0.persistentIdentifier] }.map(Self.insertion)
                + request.updated.map(\.persistentIdentifier).map(Self.update))
        return DataStoreSaveChangesResult(
            for: identifier, remappedIdentifiers: shelf.alterIdentifiers(remapped),
            snapshotsToReregister: reregistered, historyToken: token)
    }

    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        shelf.calls.append("delete \(T.self)")
        for snapshot in try matching(T.self, request.predicate) {
            shelf.rows[snapshot.persistentIdentifier] = nil
        }
        _ = shelf.record(request.editingState.author, identifier)
    }

    private static func insertion(_ identifier: PersistentIdentifier) -> HistoryChange {
        identifier.entityName == "Film"
            ? .insert(DictionaryInsert<Film>(changedPersistentIdentifier: identifier))
            : .insert(DictionaryInsert<Studio>(changedPersistentIdentifier: identifier))
    }

    private static func update(_ identifier: PersistentIdentifier) -> HistoryChange {
        identifier.entityName == "Film"
            ? .update(DictionaryUpdate<Film>(changedPersistentIdentifier: identifier))
            : .update(DictionaryUpdate<Studio>(changedPersistentIdentifier: identifier))
    }

    func erase() throws { shelf.rows = [:] }

    func initializeState(for editingState: EditingState) { shelf.states.insert(editingState.id) }
    func invalidateState(for editingState: EditingState) { shelf.states.remove(editingState.id) }

    func cachedSnapshots(
        for identifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: FilmSnapshot] {
        shelf.calls.append("cachedSnapshots \(identifiers.count)")
        guard shelf.isCaching else { return [:] }
        let found = identifiers.compactMap { shelf.rows[$0] }
        return Dictionary(uniqueKeysWithValues: found.map { ($0.persistentIdentifier, $0) })
    }

    func fetchHistory(
        _ descriptor: HistoryDescriptor<DictionaryTransaction>
    ) throws -> [DictionaryTransaction] {
        if descriptor.predicate != nil, let failure = shelf.historyFailure { throw failure }
        return try shelf.transactions.filter { try descriptor.predicate?.evaluate($0) ?? true }
    }

    func deleteHistory(_ descriptor: HistoryDescriptor<DictionaryTransaction>) throws {
        shelf.transactions = []
    }
}

struct DictionaryConfiguration: DataStoreConfiguration {
    struct Malformed: Error, Equatable { let name: String }

    typealias Store = DictionaryStore

    let name: String
    var schema: Schema?
    let shelf = Cupboard()

    init(name: String = "films.dictionary") { self.name = name }

    func validate() throws { if name.isEmpty { throw Malformed(name: name) } }

    static func == (left: Self, right: Self) -> Bool { left.shelf === right.shelf }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(shelf)) }
}

/// The rows of a store, the calls of the store, and what is wrong with it.
///
/// A container calls its store from one thread at a time.
final class Cupboard: @unchecked Sendable {
    var rows: [PersistentIdentifier: FilmSnapshot] = [:]
    var transactions: [DictionaryTransaction] = []
    var states: Set<UUID> = []
    var calls: [String] = []
    /// The predicates of the fetches.
    var predicates: [Any] = []
    var requests: [DataStoreSaveChangesRequest<FilmSnapshot>] = []

    var isCaching = true
    var leavesPredicates = true
    var sorts = false
    var failure: (any Error)?
    /// Thrown for a predicate over transactions.
    var historyFailure: (any Error)?
    var miscount = 0
    /// The change that the store makes to values which it saves.
    var normalize: ((inout FilmSnapshot) -> Void)?
    var alter: ([FilmSnapshot]) -> [FilmSnapshot] = { $0 }
    var alterIdentifiers:
        ([PersistentIdentifier: PersistentIdentifier]) ->
            [PersistentIdentifier: PersistentIdentifier] = { $0 }

    func record(
        _ author: String?, _ storeIdentifier: String, _ changes: [HistoryChange] = []
    ) -> DictionaryToken {
        let token = DictionaryToken(tokenValue: transactions.count + 1)
        transactions.append(
            DictionaryTransaction(
                changes: changes, token: token, storeIdentifier: storeIdentifier, author: author))
        return token
    }
}

struct DictionaryToken: HistoryToken {
    let tokenValue: Int?
    var id: Int { tokenValue ?? 0 }
    static func < (left: Self, right: Self) -> Bool { left.id < right.id }
}

struct DictionaryTransaction: HistoryTransaction {
    var timestamp = Date()
    var changes: [HistoryChange] = []
    let token: DictionaryToken
    let storeIdentifier: String
    let author: String?
    var transactionIdentifier: Int { token.id }
    var id: Int { token.id }

    static func == (left: Self, right: Self) -> Bool { left.id == right.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Without a number of its own; the tests do not need one.
struct DictionaryInsert<Model: PersistentModel>: HistoryInsert {
    let changeIdentifier = 0
    let transactionIdentifier = 0
    let changedPersistentIdentifier: PersistentIdentifier
}

struct DictionaryUpdate<Model: PersistentModel>: HistoryUpdate {
    let changeIdentifier = 0
    let transactionIdentifier = 0
    let changedPersistentIdentifier: PersistentIdentifier
    let updatedAttributes: [any PartialKeyPath<Model> & Sendable] = []
}
