internal import FoundationEssentials
package import LarderModel
internal import LarderQuery
internal import LarderStore

extension ObjectContext {
    /// The objects that match, in order. It refreshes registered objects without changes.
    ///
    /// - Throws: errors of the store and of the predicate.
    package func fetch(_ fetch: ObjectFetch) throws(LarderError) -> [StoredObject] {
        try fetching { () throws(LarderError) in
            guard fetch.includesPendingChanges, hasChanges else {
                return try stored(fetch, limit: fetch.limit, offset: fetch.offset)
            }
            return try withPendingChanges(fetch)
        }
    }

    /// The instances of the model class for the objects that match, in order. Those for a batch are
    /// made while the store reads the next one.
    ///
    /// - Throws: errors of the store and of the predicate.
    package func fetch<Owner: ObjectOwner>(
        _ fetch: ObjectFetch, as type: Owner.Type
    ) throws(LarderError) -> [Owner] {
        try fetching { () throws(LarderError) in
            guard fetch.includesPendingChanges, hasChanges else {
                return try stored(
                    fetch, limit: fetch.limit, offset: fetch.offset,
                    { instances(of: $0, as: type) }, { $0._$object })
            }
            return instances(of: try withPendingChanges(fetch), as: type)
        }
    }

    /// The number of objects that match.
    ///
    /// - Throws: errors of the store and of the predicate.
    package func count(_ fetch: ObjectFetch) throws(LarderError) -> Int {
        try fetching { () throws(LarderError) in
            let all =
                fetch.includesPendingChanges && hasChanges
                ? try countWithPendingChanges(fetch)
                : try storedCount(fetch)
            let offset = fetch.offset ?? 0
            let rest = all > offset ? all - offset : 0
            return min(rest, fetch.limit ?? rest)
        }
    }

    /// The identifiers of the objects that match, in order, without reading the objects.
    ///
    /// - Throws: errors of the store and of the predicate.
    package func identifiers(_ fetch: ObjectFetch) throws(LarderError) -> [PersistentIdentifier] {
        try fetching { () throws(LarderError) in
            if fetch.includesPendingChanges, hasChanges {
                return try withPendingChanges(fetch).map(\.identifier)
            }
            return try storedIdentifiers(fetch, limit: fetch.limit, offset: fetch.offset)
        }
    }

    /// Reads objects by their identifiers, in this order. Those that do not exist are left out.
    ///
    /// - Throws: errors of the store.
    package func objects(
        for identifiers: [PersistentIdentifier]
    ) throws(LarderError) -> [StoredObject] {
        try fetching { () throws(LarderError) in
            var found: [PersistentIdentifier: StoredObject] = [:]
            for object in try read(identifiers.filter { !$0.isTemporary || parent != nil }) {
                found[object.identifier] = object
            }
            // One that was not found was deleted by others, even if the context does not know it.
            return identifiers.compactMap { identifier in
                found[identifier]
                    ?? (identifier.isTemporary ? registeredObject(for: identifier) : nil)
            }.filter { $0.status != .gone && $0.status != .deleted }
        }
    }

    /// The object with an identifier, read from the store unless it has changes; nil if it does not
    /// exist, it will be deleted by the next save, or it is in a store that the context does not
    /// have.
    ///
    /// - Throws: errors of the store.
    package func existingObject(
        for identifier: PersistentIdentifier
    ) throws(LarderError) -> StoredObject? {
        if let object = registeredObject(for: identifier), object.hasChanges {
            return object.status == .deleted ? nil : object
        }
        do throws(LarderError) {
            return try objects(for: [identifier]).first
        } catch {
            if [.foreignIdentifier, .unknownEntity].contains(error.code) { return nil }
            throw error
        }
    }

    // MARK: -

    private func stored(
        _ fetch: ObjectFetch, limit: Int?, offset: Int?
    ) throws(LarderError) -> [StoredObject] {
        try stored(fetch, limit: limit, offset: offset, { $0 }, { $0 })
    }

    /// - Parameters:
    ///   - make: Makes the elements of the result of the objects of a batch.
    ///   - object: The object of an element.
    private func stored<Element>(
        _ fetch: ObjectFetch, limit: Int?, offset: Int?,
        _ make: ([StoredObject]) -> [Element], _ object: (Element) -> StoredObject
    ) throws(LarderError) -> [Element] {
        _ = try model.entity(named: fetch.entityName)
        if let parent {
            var fetch = fetch
            (fetch.limit, fetch.offset) = (limit, offset)
            return make(try objects(of: parent, fetch))
        }
        let store = try model.store(of: fetch.entityName)
        releaseUnused()
        var known: [StoredObject] = []
        let found: [Element] = try store.elements(
            of: fetch, .objects, limit: limit, offset: offset
        ) { batch in
            let registered = register(batch, store)
            guard batch.prefetchPath == nil else {
                keep(registered.objects)
                return []
            }
            known += registered.known
            return make(registered.objects)
        }
        if known.isEmpty { return found }
        try refreshLists(of: known, except: Set(fetch.prefetch + (fetch.properties ?? [])))
        if fetch.properties == nil { try refreshOwnProperties(of: known, except: fetch.entityName) }
        // Who observes an object that has changed may have deleted some.
        return found.filter { object($0).status != .gone }
    }

    private func storedIdentifiers(
        _ fetch: ObjectFetch, limit: Int?, offset: Int?
    ) throws(LarderError) -> [PersistentIdentifier] {
        if let parent {
            var fetch = fetch
            (fetch.limit, fetch.offset) = (limit, offset)
            return try parent.identifiers(fetch)
        }
        let store = try model.store(of: fetch.entityName)
        return try store.elements(
            of: fetch, .identifiers, limit: limit, offset: offset
        ) { batch in
            (0..<batch.rowCount).map { batch.objects.identifier(at: $0, in: store.identifier) }
        }
    }

    /// The number of objects of the store that match, without limit and offset.
    private func storedCount(_ fetch: ObjectFetch) throws(LarderError) -> Int {
        guard let parent else { return Int(try model.store(of: fetch.entityName).count(fetch)) }
        var fetch = fetch
        (fetch.limit, fetch.offset) = (nil, nil)
        return try parent.count(fetch)
    }

    /// The number of objects that match, without limit and offset as far as these do not matter.
    /// Objects are not read unless changes of others than the counted ones may concern the result.
    private func countWithPendingChanges(_ fetch: ObjectFetch) throws(LarderError) -> Int {
        var fetch = fetch
        fetch.sort = []
        if readsOtherObjects(fetch) {
            fetch.limit = nil
            fetch.offset = nil
            return try withPendingChanges(fetch).count
        }
        let isOwn = isResult(of: fetch)
        let changed = updated.values.filter(isOwn)
        let replaced = Set((changed + deleted.values.filter(isOwn)).map(\.identifier))
        let limit = fetch.rowsMax(leavingOut: replaced.count)
        let unchanged = try storedIdentifiers(fetch, limit: limit, offset: nil)
            .count { !replaced.contains($0) }
        let candidates = changed + inserted.values.filter(isOwn)
        let matching = try matching(candidates, fetch, evaluator(for: fetch))
        return unchanged + matching.count
    }

    /// Whether the entity of an object is one that a fetch finds.
    private func isResult(of fetch: ObjectFetch) -> (StoredObject) -> Bool {
        { [model] object in
            guard let name = object.entity?.name else { return false }
            return fetch.includesSubentities
                ? model.isOf(name, fetch.entityName) : name == fetch.entityName
        }
    }

    private func matching(
        _ candidates: [StoredObject], _ fetch: ObjectFetch, _ evaluator: Evaluator
    ) throws(LarderError) -> [StoredObject] {
        var matching: [StoredObject] = []
        if let untranslated = fetch.untranslated, untranslated.predicateFailure != nil {
            for object in candidates where try untranslated.matches(instance(of: object)) {
                matching.append(object)
            }
            return matching
        }
        guard let expression = fetch.predicate else { return candidates }
        let predicate = try evaluator.predicate(expression)
        for object in candidates
        where try predicate.holds(for: object.identifier, reading: reader) {
            matching.append(object)
        }
        return matching
    }

    private func withPendingChanges(_ fetch: ObjectFetch) throws(LarderError) -> [StoredObject] {
        let isOwn = isResult(of: fetch)
        let pendingInserts = inserted.values.inOrder.filter(isOwn)
        let changed = updated.values.filter(isOwn)
        let goneCount = deleted.values.count(where: isOwn)
        let evaluator = try evaluator(for: fetch)

        var kept: [StoredObject]
        var candidates: [StoredObject]
        let readsOthers = readsOtherObjects(fetch)
        if readsOthers {
            // The changes of any object may concern any other.
            var all = fetch
            all.predicate = nil
            all.arguments = []
            all.sort = []
            all.source = nil
            kept = []
            candidates = try stored(all, limit: nil, offset: nil)
        } else {
            // As many more rows as the changes may remove from the result.
            let limit = fetch.rowsMax(leavingOut: changed.count + goneCount)
            kept = try stored(fetch, limit: limit, offset: nil).filter {
                $0.status == .saved && updated[ObjectIdentifier($0)] == nil
            }
            candidates = changed.inOrder
        }
        candidates = candidates.filter { $0.status == .saved } + pendingInserts
        candidates = try matching(candidates, fetch, evaluator)
        if !candidates.isEmpty || readsOthers {
            kept = try sorted(kept + candidates, by: fetch, evaluator)
        }
        let start = min(kept.count, fetch.offset ?? 0)
        return Array(kept[start...].prefix(fetch.limit ?? kept.count))
    }

    /// Whether pending changes of other objects may change the result: a relationship does not show
    /// an object that will be deleted.
    private func readsOtherObjects(_ fetch: ObjectFetch) -> Bool {
        if fetch.readsOtherObjects { return true }
        let kinds = fetch.names.compactMap { name in
            model.entities[fetch.entityName].flatMap { entity in
                entity.slot(named: name).map { entity.properties[$0].kind }
            }
        }
        // A list changes by its other side, too, without a change of the object that has it.
        if kinds.contains(.toMany) { return true }
        return !deleted.isEmpty && kinds.contains { $0 != .attribute }
    }

    private func sorted(
        _ objects: [StoredObject], by fetch: ObjectFetch, _ evaluator: Evaluator
    ) throws(LarderError) -> [StoredObject] {
        if let untranslated = fetch.untranslated, untranslated.orderFailure != nil {
            return untranslated.sorted(objects.map(instance(of:))).map(\._$object)
        }
        let byIdentifier = Dictionary(
            objects.map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
        let order = try evaluator.order(fetch.sort)
        return try order.sorted(objects.map(\.identifier), reading: reader)
            .compactMap { byIdentifier[$0] }
    }

    private static let matcher = Store.makeMatcher()

    func evaluator(for fetch: ObjectFetch) throws(LarderError) -> Evaluator {
        let store = try model.store(of: fetch.entityName)
        return try Evaluator(
            schema: store.schema, entityName: fetch.entityName,
            parameters: QueryParameters(
                arguments: fetch.arguments(in: store) {
                    $0.isTemporary || $0.store == store.identifier
                }), store: store.identifier, now: Date(), matcher: Self.matcher)
    }

    /// Reads values for the evaluator.
    var reader: Evaluator.Reader {
        { [self] identifier, name in
            let registered = registeredObject(for: identifier) ?? loaded(identifier)
            guard let object = registered, let slot = object.entity?.slot(named: name) else {
                return nil
            }
            if object[slot] == nil { load(object, slot) }
            // Links to objects that were deleted, here or by others, are none.
            switch object[slot] {
            case .object(let target)?:
                let related = loadRelated([target], of: object, slot)
                return withExtendedLifetime(related) { exists(target) ? .object(target) : .null }
            case .objects(let list)?:
                let related = loadRelated(list, of: object, slot)
                return withExtendedLifetime(related) { .objects(list.filter(exists)) }
            case let value: return value
            }
        }
    }

    private func exists(_ identifier: PersistentIdentifier) -> Bool {
        switch registeredObject(for: identifier)?.status {
        case .inserted?, .saved?: true
        default: false
        }
    }
}
