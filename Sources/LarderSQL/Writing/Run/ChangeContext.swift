import FoundationEssentials
import LarderModel

/// The state that all parts of a change set share while it runs: the schema, the statements, the
/// objects that the set inserts, changes and deletes, and the errors found so far.
///
/// Each rule keeps its own state; a rule gets the context as a parameter. Used on the writer's
/// thread only.
package final class ChangeContext {
    package let schema: WritingSchema
    package let store: UUID
    let session: any WriteSession
    package let conversions: Conversions
    private var budgetChecksLeft = 0
    /// The first check and one in 16 look at the clock, which takes as long as a part of a change.
    private static let budgetCheckInterval = 15

    /// The values before the set, for the history.
    var formerValues: FormerValues
    /// nil if the user may see and change all objects.
    package var rights: RightsCheck?
    package private(set) var errors = ChangeErrors()
    /// The index of the change that is running, for its errors; nil between changes.
    package var changeIndex: Int?
    /// The net changes so far.
    package var changes: ObjectChanges
    /// Objects that the set has deleted, by identifier or by a delete rule.
    var deleted = ObjectSet()
    private var incremented = ObjectSet()
    /// The entities of objects whose tables hold several entities, as far as they were read. The
    /// root entity and the key identify the object.
    private var entityNumbers: [ObjectKey: Int] = [:]

    /// - Parameters:
    ///   - lastKeys: The last key of each entity before the set. Greater keys are those of objects
    ///     that the set inserts.
    ///   - sharesKeys: Whether other writers assign keys too. Then only those of
    ///     ``own(_:ofRoot:)`` are those of the set.
    package init(
        _ schema: WritingSchema, store: UUID, session: any WriteSession, lastKeys: [Int64],
        sharesKeys: Bool = false, _ conversions: Conversions, _ formerValues: FormerValues
    ) {
        self.formerValues = formerValues
        self.schema = schema
        self.store = store
        self.session = session
        self.conversions = conversions
        changes = ObjectChanges(
            lastKeys: schema.hasInheritance
                ? schema.entities.map { lastKeys[$0.rootNumber] } : lastKeys,
            sharesKeys: sharesKeys)
    }

    /// Adds keys that inserts of the set may have, of an entity or one that inherits from it.
    package func own(_ keys: ClosedRange<Int64>, ofRoot root: Int) {
        for entity in schema.entities where entity.rootNumber == root {
            changes.own(keys, entity.number)
        }
    }

    // MARK: - Errors

    /// Adds an error of the change that is running.
    package func add(_ error: LarderError) {
        errors.add(error, change: changeIndex)
    }

    /// Adds an error of an earlier change, or of the set as a whole.
    package func add(_ error: LarderError, change: Int?) {
        errors.add(error, change: change)
    }

    /// Adds an error of the condition with this index.
    func add(_ error: LarderError, condition: Int) {
        errors.add(error, change: nil, condition: condition)
    }

    /// Adds the errors of a part whose first change has this index in the whole set.
    package func add(_ part: ChangeErrors, from index: Int) {
        errors.add(part, from: index)
    }

    /// Discards the errors that were found after a copy of ``errors`` was taken.
    package func restore(_ errors: ChangeErrors) {
        self.errors = errors
    }

    /// Called for each change, and in each loop over objects.
    ///
    /// - Throws: `interrupted` if the budget of the set is used up.
    package func checkBudget() throws(SQLError) {
        budgetChecksLeft -= 1
        if budgetChecksLeft < 0 { try checkBudgetNow() }
    }

    /// The form for a caller that does much between two calls.
    package func checkBudgetNow() throws(SQLError) {
        budgetChecksLeft = Self.budgetCheckInterval
        try session.checkBudget()
    }

    // MARK: - Versions

    /// Increments the version of an object, at most once in a set.
    func incrementVersion(of object: ObjectKey) throws(SQLError) {
        guard needsVersionIncrement(object) else { return }
        let entity = schema.entities[object.entity]
        try session.run(entity.incrementVersion, [.integer(object.key)])
    }

    /// Returns true the first time for an object that existed before the set, and records it as
    /// changed. The caller then increments the version.
    func needsVersionIncrement(_ object: ObjectKey) -> Bool {
        guard !isInserted(object), incremented.insert(object) else { return false }
        changes.update(object, nil)
        return true
    }

    func hasIncrementedVersion(_ object: ObjectKey) -> Bool { incremented.contains(object) }

    func isInserted(_ object: ObjectKey) -> Bool { changes.isInserted(object) }

    /// The number of objects that the history or the end of the set handles one by one.
    var recordCount: Int { changes.updated.count + incremented.count }

    // MARK: - Entities

    /// The object of an entity, or of a subentity, that has a key, also if the set has deleted it.
    /// If there is no such object, it counts as one of the entity itself.
    package func object(_ entity: Int, _ key: Int64) throws(SQLError) -> ObjectKey {
        let stored = schema.entities[entity]
        guard stored.hasSubentities else { return ObjectKey(entity: entity, key: key) }
        let root = ObjectKey(entity: stored.rootNumber, key: key)
        if let number = entityNumbers[root] { return ObjectKey(entity: number, key: key) }
        guard let name = try value(stored.entityName, key)?.string,
            let number = schema.number(of: name)
        else {
            let deletedEntity = schema.entities.first {
                $0.rootNumber == stored.rootNumber
                    && deleted.contains(ObjectKey(entity: $0.number, key: key))
            }
            return ObjectKey(entity: deletedEntity?.number ?? entity, key: key)
        }
        entityNumbers[root] = number
        return ObjectKey(entity: number, key: key)
    }

    /// Records the entities of all inserts, since objects may be linked to before they are stored.
    func recordEntities(ofInsertsIn set: PlannedChangeSet) {
        guard schema.hasInheritance else { return }
        for case .insert(let insert)? in set.changes {
            let stored = schema.entities[insert.object.entity]
            guard stored.sharesTable else { continue }
            let root = ObjectKey(entity: stored.rootNumber, key: insert.object.key)
            entityNumbers[root] = stored.number
        }
    }

    func removeRecordedEntities() {
        entityNumbers.removeAll(keepingCapacity: true)
    }

    // MARK: - Identifiers

    func identifier(of object: ObjectKey) -> PersistentIdentifier {
        PersistentIdentifier(
            store: store, entityName: schema.entities[object.entity].name, key: object.key)
    }

    func uri(of object: ObjectKey) -> String { identifier(of: object).uriRepresentation }

    /// The URI, or nil for an object that the set inserts: once the set fails, its URI means
    /// nothing.
    func stableURI(of object: ObjectKey) -> String? {
        isInserted(object) ? nil : uri(of: object)
    }

    /// The object for an error message.
    func name(of object: ObjectKey) -> String {
        stableURI(of: object) ?? "an inserted object"
    }

    /// Whether an error may name an object.
    func isVisible(_ object: ObjectKey) throws(SQLError) -> Bool {
        try rights?.isVisible(object, self) ?? true
    }

    func notFound(_ object: ObjectKey) -> LarderError {
        let uri = uri(of: object)
        return LarderError(.objectNotFound, "there is no object \(uri) (any more)", uri: uri)
    }
}
