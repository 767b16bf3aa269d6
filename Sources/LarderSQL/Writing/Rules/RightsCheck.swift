import LarderModel
import LarderQuery

/// Checks that a user with limited rights may make the changes of a set, on both sides of them:
/// objects that exist before they are changed, and changed and new objects at the end.
///
/// A change names objects: the one that it changes, the destinations of its relationships, the
/// members that it removes from a list. All of them must be visible to the user; those whose rows
/// change need the right to update them. What the schema does by itself is the schema's: a
/// reference to a deleted object becomes nil without a right. But each object that a deletion
/// cascades to needs the right to delete it.
package final class RightsCheck {
    /// An object that a change names, with the index of the change.
    private struct Named: Hashable {
        var object: ObjectKey
        var change: Int?
        /// Whether the change has its identifier. Otherwise an error must not name it.
        var isGiven = true
    }

    private let changeRights: ChangeRights
    /// Objects that existed before and are updated, to be checked again at the end.
    private var updated = ObjectSet()
    /// The objects that an insert updates. The names in an insert may be frozen, those in an update
    /// not.
    private var upserted = ObjectSet()

    private static let keysMax = 10_000

    package init(_ rights: ChangeRights) { changeRights = rights }

    // MARK: - Before

    /// Checks the objects that existing changes name, before the first change is made.
    ///
    /// An object that the user does not see has, in each case, the error of one that does not
    /// exist, whatever else is wrong with the changes.
    func check(
        _ changes: [PlannedChange?], from start: Int, _ context: ChangeContext
    ) throws(SQLError) {
        var seen: [Named] = []
        var rights: [EntityRights.Right: [Named]] = [:]
        // The objects of changes with a base: the conflict resolver decides if they do not exist.
        var based: [EntityRights.Right: [Named]] = [:]
        let hidden = try hiddenObjects(of: changes, context)
        for (offset, change) in changes.enumerated() {
            let index = start + offset
            switch change {
            case .insert(let insert)?:
                try collect(insert.values, of: nil, index, &seen, &rights, context)
            case .update(let object, let expectation, let values)?:
                let named = Named(object: object, change: index)
                let isHidden = hidden.contains(object)
                if expectation.isEmpty {
                    rights[.update, default: []].append(named)
                } else if !isHidden {
                    based[.update, default: []].append(named)
                }
                try collect(
                    values, of: isHidden ? nil : object, index, &seen, &rights, context)
            case .delete(let object, let expectation)?:
                let named = Named(object: object, change: index)
                if expectation.isEmpty {
                    rights[.delete, default: []].append(named)
                } else if !hidden.contains(object) {
                    based[.delete, default: []].append(named)
                }
            case .updateAll(_, let assignments)?:
                collect(assignments, index, &seen, &rights, context)
            case .deleteAll?, nil: break
            }
        }
        try checkSeen(seen + rights.values.joined(), context)
        guard context.errors.isEmpty else { return }
        for (right, objects) in rights.merging(based, uniquingKeysWith: +) {
            for named in try violations(right, objects, context) {
                let name = context.schema.entities[named.object.entity].name
                context.add(
                    changeRights.limits.denial(right, name, uri: context.uri(of: named.object)),
                    change: named.change)
            }
            guard right == .update else { continue }
            for named in objects { updated.insert(named.object) }
        }
    }

    /// The objects that changes update or delete, and that the user does not see.
    private func hiddenObjects(
        of changes: [PlannedChange?], _ context: ChangeContext
    ) throws(SQLError) -> Set<ObjectKey> {
        let changed = changes.compactMap { change -> Named? in
            switch change {
            case .update(let object, _, _)?, .delete(let object, _)?:
                Named(object: object, change: nil)
            default: nil
            }
        }
        return Set(try violations(.read, changed, context).map(\.object))
    }

    /// Adds errors for objects that the user does not see, and for those that do not exist.
    private func checkSeen(_ named: [Named], _ context: ChangeContext) throws(SQLError) {
        var unseen = try violations(.read, named, context)
        for named in named where named.isGiven && !context.deleted.contains(named.object) {
            if try context.version(of: named.object) == nil { unseen.append(named) }
        }
        unseen.sort { ($0.change ?? 0, $0.object) < ($1.change ?? 0, $1.object) }
        // An object is one error, however often a change needs it. The number of members that the
        // user does not see is not shown.
        var reported: Set<Named> = []
        for named in unseen {
            let key = named.isGiven ? named.object.key : 0
            let shown = Named(
                object: ObjectKey(entity: named.object.entity, key: key), change: named.change,
                isGiven: named.isGiven)
            guard reported.insert(shown).inserted else { continue }
            let name = context.schema.entities[named.object.entity].name
            context.add(
                named.isGiven
                    ? context.notFound(named.object) : changeRights.limits.denial(.update, name),
                change: named.change)
        }
    }

    private func collect(
        _ assignments: [PlannedAssignment], _ index: Int, _ seen: inout [Named],
        _ rights: inout [EntityRights.Right: [Named]], _ context: ChangeContext
    ) {
        for assignment in assignments {
            guard case .relationship(let targets) = assignment.content,
                case .relationship(let number) = assignment.property
            else { continue }
            let named = Self.existing(targets, index)
            seen += named
            if case .inverse = context.schema.relationships[number].storage {
                rights[.update, default: []] += named
            }
        }
    }

    /// Collects what the values of an object name.
    ///
    /// - Parameter object: nil for one that is inserted.
    private func collect(
        _ values: PlannedValues, of object: ObjectKey?, _ index: Int, _ seen: inout [Named],
        _ rights: inout [EntityRights.Right: [Named]], _ context: ChangeContext
    ) throws(SQLError) {
        for assignment in values.assignments {
            let relationship = context.schema.relationships[assignment.relationship]
            var named = Self.existing(assignment.targets, index)
            if let object, relationship.relationship.isToMany {
                let kept = Set(assignment.targets.map(\.key))
                for key in try context.destinations(of: object, relationship)
                where !kept.contains(key) {
                    named.append(
                        Named(
                            object: try context.object(relationship.destinationNumber, key),
                            change: index, isGiven: false))
                }
            }
            seen += named
            if case .inverse = relationship.storage { rights[.update, default: []] += named }
        }
        for edit in values.edits {
            let named = Self.existing(edit.named, index)
            seen += named
            if case .inverse = context.schema.relationships[edit.relationship].storage {
                rights[.update, default: []] += Self.existing(edit.targets, index)
            }
        }
    }

    private static func existing(_ targets: [Assignment.Target], _ index: Int) -> [Named] {
        targets.filter { $0.insertedBy == nil }.map { Named(object: $0.object, change: index) }
    }

    /// Checks an object that an insert updates, or that a deletion cascades to.
    ///
    /// - Returns: nil if the user has the right.
    func violation(
        _ right: EntityRights.Right, _ object: ObjectKey, _ context: ChangeContext
    ) throws(SQLError) -> LarderError? {
        let named = [Named(object: object, change: nil)]
        let name = context.schema.entities[object.entity].name
        let isVisible = try isVisible(object, context)
        guard isVisible, try violations(right, named, context).isEmpty else {
            return changeRights.limits.denial(
                right, name, uri: isVisible ? context.stableURI(of: object) : nil)
        }
        if right == .update {
            updated.insert(object)
            upserted.insert(object)
        }
        return nil
    }

    func isVisible(_ object: ObjectKey, _ context: ChangeContext) throws(SQLError) -> Bool {
        try violations(.read, [Named(object: object, change: nil)], context).isEmpty
    }

    /// Records objects that a bulk update has selected, for which the user has the right.
    func recordUpdate(_ object: ObjectKey) { updated.insert(object) }

    // MARK: - At the end

    /// Checks the new and the changed objects as they are stored.
    func finish(_ context: ChangeContext) throws(SQLError) {
        for entity in context.schema.entities {
            try finishInserted(entity, context)
            try finishUpdated(entity, context)
            finishUpserted(entity, context)
            if context.errors.isFull { return }
        }
    }

    private func finishInserted(
        _ entity: StoredEntity, _ context: ChangeContext
    ) throws(SQLError) {
        guard try statement(.insert, entity.number, context) != nil else { return }
        var objects: [Named] = []
        for key in context.changes.insertedKeys(entity.number).joined() {
            let object = ObjectKey(entity: entity.number, key: key)
            guard !context.deleted.contains(object) else { continue }
            objects.append(Named(object: object, change: nil))
            guard objects.count == Self.keysMax else { continue }
            try finish(.insert, objects, entity, context)
            objects.removeAll(keepingCapacity: true)
        }
        try finish(.insert, objects, entity, context)
    }

    private func finishUpdated(
        _ entity: StoredEntity, _ context: ChangeContext
    ) throws(SQLError) {
        guard try statement(.update, entity.number, context) != nil else { return }
        let objects = updated[entity.number].keys.map {
            Named(object: ObjectKey(entity: entity.number, key: $0), change: nil)
        }
        try finish(
            .update, objects.filter { !context.deleted.contains($0.object) }, entity, context)
    }

    /// Checks that the inserts that have updated an object have changed nothing that is frozen.
    private func finishUpserted(_ entity: StoredEntity, _ context: ChangeContext) {
        let keys = upserted[entity.number]
        guard !keys.isEmpty else { return }
        let attributes = entity.attributes.enumerated().map {
            (name: $1.attribute.name, property: StoredEntity.Property.attribute($0))
        }
        let relationships = entity.relationshipNumbers.map { number in
            let relationship = context.schema.relationships[number].relationship
            return (name: relationship.name, property: StoredEntity.Property.relationship(number))
        }
        for (name, property) in attributes + relationships
        where changeRights.limits.isFrozen(name, of: entity.name) {
            let changed = context.changes.keys(changedIn: property, of: entity.number)
            guard changed.contains(where: { keys.contains($0) }) else { continue }
            context.add(changeRights.limits.frozen(name, entity.name), change: nil)
        }
    }

    private func finish(
        _ right: EntityRights.Right, _ objects: [Named], _ entity: StoredEntity,
        _ context: ChangeContext
    ) throws(SQLError) {
        guard let first = try violations(right, objects, context).first else { return }
        var error = changeRights.limits.denial(
            right, entity.name, uri: context.stableURI(of: first.object))
        error.message += " with these values"
        context.add(error, change: nil)
    }

    // MARK: - Rules

    /// The objects among some for which the user does not have a right.
    private func violations(
        _ right: EntityRights.Right, _ objects: [Named], _ context: ChangeContext
    ) throws(SQLError) -> [Named] {
        var violations: [Named] = []
        for (entity, objects) in Dictionary(grouping: objects, by: \.object.entity) {
            guard let statement = try statement(right, entity, context) else { continue }
            for start in stride(from: 0, to: objects.count, by: Self.keysMax) {
                let part = objects[start..<min(objects.count, start + Self.keysMax)]
                let keys = try self.keys(statement, Set(part.map(\.object.key)), context)
                violations += part.filter { keys.contains($0.object.key) }
            }
        }
        return violations.sorted {
            ($0.change ?? 0, $0.object.key) < ($1.change ?? 0, $1.object.key)
        }
    }

    private func keys(
        _ keyed: KeyStatement, _ keys: Set<Int64>, _ context: ChangeContext
    ) throws(SQLError) -> Set<Int64> {
        let now = changeRights.planner.converter.clock().timeIntervalSinceReferenceDate
        var found: Set<Int64> = []
        let values = keyed.values(key: .keys(keys.sorted()), now: now)
        try context.session.rows(keyed.sql, values) { row in
            if let key = row[0].int64 { found.insert(key) }
            return true
        }
        return found
    }

    /// nil if the user has the right for all objects.
    private func statement(
        _ right: EntityRights.Right, _ entity: Int, _ context: ChangeContext
    ) throws(SQLError) -> KeyStatement? {
        do throws(LarderError) {
            return try changeRights.violations(right, of: context.schema.entities[entity].name)
        } catch {
            throw SQLError(.statement, error.message)
        }
    }
}
