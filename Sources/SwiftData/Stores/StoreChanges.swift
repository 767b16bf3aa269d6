internal import Foundation
internal import LarderModel
internal import LarderObjects

/// A change set as whole objects, for a store that keeps snapshots.
///
/// Links are changed on both of their sides: a change set has each link once.
struct StoreChanges {
    private(set) var rows: [PersistentIdentifier: [String: Value]] = [:]
    private(set) var inserted: [PersistentIdentifier] = []
    private(set) var updated: [PersistentIdentifier] = []
    private(set) var deleted: [DefaultSnapshot] = []

    private let schema: LarderModel.Schema
    private let read: (PersistentIdentifier) throws -> [String: Value]?
    private var gone: Set<PersistentIdentifier> = []

    init(
        _ changes: ChangeSet, _ schema: LarderModel.Schema,
        reading read: @escaping (PersistentIdentifier) throws -> [String: Value]?
    ) throws {
        self.schema = schema
        self.read = read
        for case .delete(let identifier, _) in changes.changes { gone.insert(identifier) }
        for case .insert(let identifier, _, _) in changes.changes {
            inserted.append(identifier)
            rows[identifier] = [:]
        }
        for change in changes.changes {
            switch change {
            case .insert(let identifier, let values, let edits),
                .update(let identifier, _, let values, _, let edits):
                try apply(identifier, values, edits)
            case .delete(let identifier, _): try delete(identifier)
            case .updateAll, .deleteAll:
                throw LarderError(.unsupported, "the store has no bulk changes")
            }
        }
        updated.removeAll(where: gone.contains)
    }

    private mutating func apply(
        _ identifier: PersistentIdentifier, _ values: [String: Value], _ edits: [RelationshipEdit]
    ) throws {
        try touch(identifier)
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            try set(identifier, name, value)
        }
        for edit in edits {
            let old = rows[identifier]?[edit.propertyName]?.links ?? []
            let others = old.filter { !edit.objects.contains($0) }
            let new =
                switch edit {
                case .add: old + edit.objects.filter { !old.contains($0) }
                case .remove: others
                case .move: old
                }
            try set(identifier, edit.propertyName, .objects(new))
        }
    }

    private mutating func delete(_ identifier: PersistentIdentifier) throws {
        guard let row = try rows[identifier] ?? read(identifier) else {
            throw Self.notFound(identifier)
        }
        deleted.append(DefaultSnapshot(identifier, row))
        rows[identifier] = row
        for relationship in schema.entity(named: identifier.entityName)?.relationships ?? [] {
            let targets = (row[relationship.name]?.links ?? []).filter { !gone.contains($0) }
            guard relationship.deleteRule != .deny || targets.isEmpty else {
                throw LarderError(
                    .deleteDenied,
                    "\(identifier.entityName).\(relationship.name) still has objects",
                    uri: identifier.uriRepresentation)
            }
            guard let inverse = relationship.inverse, relationship.deleteRule != .noAction else {
                continue
            }
            for target in targets { try unlink(target, inverse, identifier) }
        }
        rows[identifier] = nil
    }

    /// Reads an object that is changed, once.
    private mutating func touch(_ identifier: PersistentIdentifier) throws {
        guard rows[identifier] == nil else { return }
        guard let row = try read(identifier) else { throw Self.notFound(identifier) }
        rows[identifier] = row
        updated.append(identifier)
    }

    private mutating func set(
        _ identifier: PersistentIdentifier, _ name: String, _ value: Value
    ) throws {
        let old = rows[identifier]?[name]?.links ?? []
        rows[identifier]?[name] = value
        guard let relationship = relationship(name, of: identifier),
            let inverse = relationship.inverse
        else { return }
        let new = value.links
        for target in old where !new.contains(target) { try unlink(target, inverse, identifier) }
        for target in new where !old.contains(target) {
            try link(target, inverse, identifier, from: name)
        }
    }

    private mutating func link(
        _ target: PersistentIdentifier, _ name: String, _ source: PersistentIdentifier,
        from sourceName: String
    ) throws {
        try touch(target)
        guard let relationship = relationship(name, of: target) else { return }
        let old = rows[target]?[name]?.links ?? []
        guard !old.contains(source) else { return }
        if relationship.isToMany {
            rows[target]?[name] = .objects(old + [source])
        } else {
            rows[target]?[name] = .object(source)
            for former in old { try unlink(former, sourceName, target) }
        }
    }

    private mutating func unlink(
        _ target: PersistentIdentifier, _ name: String, _ source: PersistentIdentifier
    ) throws {
        guard !gone.contains(target), let relationship = relationship(name, of: target) else {
            return
        }
        // A link to an object that is not there ends with it.
        guard try rows[target] != nil || read(target) != nil else { return }
        try touch(target)
        let old = rows[target]?[name]?.links ?? []
        guard old.contains(source) else { return }
        rows[target]?[name] =
            relationship.isToMany ? .objects(old.filter { $0 != source }) : .null
    }

    private func relationship(
        _ name: String, of identifier: PersistentIdentifier
    ) -> LarderModel.Relationship? {
        let entity = schema.entity(named: identifier.entityName)
        guard case .relationship(let relationship)? = entity?.property(named: name) else {
            return nil
        }
        return relationship
    }

    private static func notFound(_ identifier: PersistentIdentifier) -> LarderError {
        LarderError(
            .objectNotFound, "the store has no such \(identifier.entityName)",
            uri: identifier.uriRepresentation)
    }
}
