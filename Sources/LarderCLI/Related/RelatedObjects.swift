import LarderClient
import LarderModel

/// Finds the related objects that the input names by their values, and creates missing ones.
///
/// Objects are processed in sets: first one call finds the related objects of the whole set, with
/// one request for thousands of them; then each object gets its identifiers without a request.
/// New related objects are changes of the same change set as the objects that name them, so an
/// object that several lines name is created once, and nothing of a rejected set remains.
struct RelatedObjects {
    /// The memory of the objects that are found and cached. When it is exceeded, all are looked up
    /// again.
    static let cachedBytesMax = 32 << 20

    private let session: StoreSession
    private let schema: Schema
    private let creates: Bool

    private var found: [UniqueKey: PersistentIdentifier] = [:]
    private var cachedBytes = 0
    /// The keys of objects of this set that are not stored yet.
    private var temporaryKeys: Set<UniqueKey> = []
    /// Whether an object of this set names another one.
    private var isNeeded = false
    /// The changes that create the missing objects of this set.
    private(set) var creations: [Change] = []

    /// - Parameter creates: Whether missing objects are created instead of an error.
    init(_ session: StoreSession, creates: Bool) throws(LarderError) {
        self.session = session
        schema = try session.client.schema()
        self.creates = creates
    }

    /// Begins a set: finds the related objects of all its objects.
    ///
    /// - Throws: errors of the request. Objects that are not found are no error yet.
    mutating func beginSet(_ contents: some Sequence<ObjectContent>) throws(LarderError) {
        for key in temporaryKeys { found[key] = nil }
        temporaryKeys = []
        creations = []
        if cachedBytes > Self.cachedBytesMax {
            found = [:]
            cachedBytes = 0
        }
        let objects = contents.flatMap(\.related)
        isNeeded = !objects.isEmpty
        try find(objects)
    }

    /// The content of an object of the set with the identifiers of its related objects.
    ///
    /// - Throws: `objectNotFound` for a missing object that is not created, `missingValue` for one
    ///   that cannot be created; `invalidChangeSet` for values that may name several objects, and
    ///   for an object that is twice in a list; `wrongType` for an object of another entity.
    mutating func resolved(_ content: ObjectContent) throws(LarderError) -> ObjectContent {
        guard !content.related.isEmpty else { return content }
        let identifiers = try content.related.map { (object) throws(LarderError) in
            try identifier(of: object)
        }
        try checkLists(of: content, identifiers)
        return content.replacingRelated(with: identifiers)
    }

    /// Checks that no list contains an object twice. The store would name it by its identifier.
    private func checkLists(
        of content: ObjectContent, _ identifiers: [PersistentIdentifier]
    ) throws(LarderError) {
        guard Set(identifiers).count < identifiers.count else { return }
        var paths: [PersistentIdentifier: Set<String>] = [:]
        for (object, identifier) in zip(content.related, identifiers) {
            guard paths[identifier, default: []].insert(object.path).inserted else {
                throw object.isRepeated
            }
        }
    }

    /// The changes that insert objects, after those that create their related objects. An object
    /// may name one that precedes it.
    ///
    /// - Parameter fileName: The file in error messages; nil for objects of the command line.
    /// - Returns: the changes, and the line of each.
    /// - Throws: what ``beginSet(_:)`` and ``resolved(_:)`` throw.
    mutating func inserts(
        _ objects: [SourceObject], of entity: Entity, _ fileName: String?
    ) throws(LarderError) -> (changes: [Change], lines: [Int]) {
        try beginSet(objects.map(\.content))
        var changes: [Change] = []
        var creationLines: [Int] = []
        for (index, object) in objects.enumerated() {
            let identifier = PersistentIdentifier(
                temporary: session.temporaryName(index), entityName: entity.name)
            do throws(LarderError) {
                let content = try resolved(object.content)
                add(content, as: identifier, of: entity)
                changes.append(
                    .insert(identifier, values: content.values, edits: content.edits))
            } catch {
                throw fileName.map { error.at(line: object.line, of: $0) } ?? error
            }
            let newCount = creations.count - creationLines.count
            creationLines += repeatElement(object.line, count: newCount)
        }
        return (creations + changes, creationLines + objects.map(\.line))
    }

    /// Makes an object of the set known to those that follow it and name it.
    private mutating func add(
        _ content: ObjectContent, as identifier: PersistentIdentifier, of entity: Entity
    ) {
        guard isNeeded else { return }
        let object = RelatedObject(path: entity.name, entity: entity, content: content)
        for names in entity.uniquenessConstraints {
            guard let key = key(of: object, constraint: names), found[key] == nil else { continue }
            remember(identifier, key)
        }
    }

    private mutating func remember(_ identifier: PersistentIdentifier, _ key: UniqueKey) {
        found[key] = identifier
        if identifier.isTemporary { temporaryKeys.insert(key) }
        cachedBytes += key.byteCount
    }

    // MARK: Finding

    /// Finds objects and, first, those that are part of their keys.
    private mutating func find(_ objects: [RelatedObject]) throws(LarderError) {
        guard !objects.isEmpty else { return }
        try find(objects.flatMap(\.content.related))
        let keys = Set(objects.compactMap(key)).filter { found[$0] == nil }
        for (constraint, keys) in Dictionary(grouping: keys, by: \.constraint) {
            let size = UniqueKey.keysMax(of: constraint)
            for start in stride(from: 0, to: keys.count, by: size) {
                try find(Array(keys[start..<min(start + size, keys.count)]), of: constraint)
            }
        }
    }

    private mutating func find(
        _ keys: [UniqueKey], of constraint: UniqueKey.Constraint
    ) throws(LarderError) {
        let (fetch, parameters) = UniqueKey.fetch(keys, of: constraint)
        for record in try session.client.fetch(fetch, parameters).objects {
            let values = constraint.properties.map { record[$0] ?? .null }
            remember(record.identifier, UniqueKey(constraint: constraint, values: values))
        }
    }

    /// The key of an object; nil if its values do not name one, or if it refers to an object that
    /// is not stored and not in this set.
    private func key(of object: RelatedObject) -> UniqueKey? {
        object.constraint.flatMap { key(of: object, constraint: $0) }
    }

    private func key(of object: RelatedObject, constraint names: [String]) -> UniqueKey? {
        var values: [Value] = []
        for name in names {
            guard let value = object.content.values[name], !value.isNull else { return nil }
            guard case .object(let identifier) = value,
                let part = object.content.relatedObject(identifier)
            else {
                values.append(value)
                continue
            }
            guard let known = key(of: part).flatMap({ found[$0] }) else { return nil }
            values.append(.object(known))
        }
        return UniqueKey(
            constraint: UniqueKey.Constraint(names, of: object.entity, in: schema), values: values)
    }

    // MARK: Creating

    private mutating func identifier(
        of object: RelatedObject
    ) throws(LarderError) -> PersistentIdentifier {
        guard object.constraint != nil else { throw object.isNotUnique }
        if let known = key(of: object).flatMap({ found[$0] }) {
            guard schema.isKind(known.entityName, of: object.entity.name) else {
                throw object.isOfOtherEntity(known.entityName)
            }
            return known
        }
        guard creates else { throw object.isMissing }
        guard !object.entity.isAbstract else { throw object.isAbstract(in: schema) }
        let missing = object.entity.attributes.first {
            !$0.isOptional && !$0.isDerived && $0.defaultValue == nil
                && object.content.values[$0.name]?.isNull ?? true
        }
        if let missing { throw object.isIncomplete(missing.name) }
        let content = try resolved(object.content)
        // The object may have become known with the objects that it refers to.
        if let known = key(of: object).flatMap({ found[$0] }) { return known }
        let identifier = PersistentIdentifier(
            temporary: session.temporaryName(0) + ".related\(creations.count)",
            entityName: object.entity.name)
        creations.append(.insert(identifier, values: content.values, edits: content.edits))
        let created = RelatedObject(path: object.path, entity: object.entity, content: content)
        for names in object.entity.uniquenessConstraints {
            if let key = key(of: created, constraint: names) { remember(identifier, key) }
        }
        return identifier
    }
}
