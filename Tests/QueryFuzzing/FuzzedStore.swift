import FoundationEssentials
public import LarderModel
import LarderQuery
import LarderStore
import TestSupport

/// Objects that are both in a store and in memory.
public final class FuzzedStore {
    public let schema: Schema
    public let drafts: [DraftObject]
    let store: Store
    let reader: any StoreReader
    /// For parallel reads, of ranges of two keys.
    let workers: WorkerThreads
    let matcher = Store.makeMatcher()
    /// By entity, then by key.
    private(set) var objects: [String: [Int64: [String: Value]]] = [:]
    /// The identifiers of the drafts.
    public private(set) var identifiers: [PersistentIdentifier] = []

    var storeIdentifier: UUID { store.storeDescription.identifier }

    convenience init(_ random: inout SeededGenerator) throws {
        let schema = try RandomSchema.schema(&random)
        try self.init(schema, RandomObjects.objects(of: schema, &random))
    }

    /// - Parameter deleted: The indexes of the objects that the store does not have any more.
    init(_ schema: Schema, _ drafts: [DraftObject], without deleted: [Int] = []) throws {
        self.schema = schema
        self.drafts = drafts
        var options = StoreOptions()
        options.parallelKeysMin = 4
        store = try Store.inMemory(schema: schema, options: options)
        let writer = try store.makeWriter()
        defer { writer.close() }
        let inserted = try Self.save(drafts, schema, writer)
        identifiers = inserted
        let deletions = ChangeSet(deleted.map { .delete(inserted[$0], ifVersion: nil) })
        for result in writer.save([deletions]) { _ = try result.get() }
        reader = try store.makeReader()
        workers = try WorkerThreads(2, of: store)
        fillMemory()
    }

    /// The change set that inserts the objects with their links.
    static func insertion(of drafts: [DraftObject], _ schema: Schema) -> ChangeSet {
        let names = drafts.enumerated().map(temporary)
        return ChangeSet(
            drafts.enumerated().map { index, draft in
                let links = links(of: draft, to: names, schema)
                return Change.insert(
                    names[index], values: draft.values.merging(links) { _, new in new })
            })
    }

    /// Inserts the objects and then links them, in the order of the drafts. A link of an insert to
    /// later ones would be set after these, and so would come later in an ordered list.
    ///
    /// - Returns: the identifiers of the objects.
    private static func save(
        _ drafts: [DraftObject], _ schema: Schema, _ writer: any StoreWriter
    ) throws(LarderError) -> [PersistentIdentifier] {
        let inserts = drafts.enumerated().map { index, draft in
            Change.insert(temporary(index, draft), values: draft.values)
        }
        guard let result = writer.save([ChangeSet(inserts)]).first else {
            throw LarderError(.storageFailed, "the writer returned no outcome")
        }
        let inserted = try result.get().inserted
        let updates = zip(drafts, inserted).map { draft, identifier in
            Change.update(
                identifier, ifVersion: nil, values: links(of: draft, to: inserted, schema))
        }
        for result in writer.save([ChangeSet(updates)]) { _ = try result.get() }
        return inserted
    }

    private static func links(
        of draft: DraftObject, to identifiers: [PersistentIdentifier], _ schema: Schema
    ) -> [String: Value] {
        var values: [String: Value] = [:]
        for (name, links) in draft.links {
            let objects = links.map { identifiers[$0] }
            values[name] =
                isToMany(name, of: draft.entityName, in: schema)
                ? .objects(objects) : objects.first.map { .object($0) } ?? .null
        }
        return values
    }

    private static func temporary(_ index: Int, _ draft: DraftObject) -> PersistentIdentifier {
        PersistentIdentifier(temporary: "o\(index)", entityName: draft.entityName)
    }

    private static func isToMany(_ name: String, of entity: String, in schema: Schema) -> Bool {
        guard
            case .relationship(let relationship) = schema.entity(named: entity)?
                .property(named: name)
        else { return false }
        return relationship.isToMany
    }

    /// The expected content of the store, computed from the drafts alone.
    private func fillMemory() {
        for (draft, identifier) in zip(drafts, identifiers) {
            var values = draft.values
            for relationship in schema.entity(named: draft.entityName)?.relationships ?? [] {
                values[relationship.name] = relationship.isToMany ? .objects([]) : .null
            }
            objects[draft.entityName, default: [:]][identifier.permanentKey ?? 0] = values
        }
        for (draft, identifier) in zip(drafts, identifiers) {
            for (name, links) in draft.links {
                guard
                    case .relationship(let relationship) = schema.entity(named: draft.entityName)?
                        .property(named: name)
                else { continue }
                for index in links {
                    add(identifiers[index], to: identifier, relationship.name)
                    if let inverse = relationship.inverse {
                        add(identifier, to: identifiers[index], inverse)
                    }
                }
            }
        }
    }

    private func add(
        _ other: PersistentIdentifier, to owner: PersistentIdentifier, _ relationship: String
    ) {
        let key = owner.permanentKey ?? 0
        switch objects[owner.entityName]?[key]?[relationship] {
        case .objects(let list):
            objects[owner.entityName]?[key]?[relationship] = .objects(list + [other])
        default: objects[owner.entityName]?[key]?[relationship] = .object(other)
        }
    }

    func read(_ object: PersistentIdentifier, _ property: String) -> Value? {
        objects[object.entityName]?[object.permanentKey ?? 0]?[property]
    }

    /// The indexes of the drafts that a relationship of a draft has, in the order of its links.
    public func links(of index: Int, _ relationship: String) -> [Int] {
        let value = read(identifiers[index], relationship)
        let links: [PersistentIdentifier] =
            switch value {
            case .object(let other): [other]
            case .objects(let others): others
            default: []
            }
        return links.compactMap(identifiers.firstIndex)
    }

    func objects(of entityName: String) -> [PersistentIdentifier] {
        identifiers.filter { schema.isKind($0.entityName, of: entityName) }
    }
}
