internal import Foundation
internal import LarderModel
internal import LarderObjects

/// A change set as whole objects, for a store that keeps snapshots.
///
/// Links are changed on both of their sides: a change set has each link once. The objects that the
/// changes concern are read together.
struct StoreChanges {
    /// Reads those of the objects that exist.
    typealias Reader =
        ([PersistentIdentifier]) throws -> [PersistentIdentifier: [String: Value]]

    /// The inserted and updated objects as they will be.
    private(set) var rows: [PersistentIdentifier: [String: Value]] = [:]
    private(set) var inserted: [PersistentIdentifier] = []
    private(set) var updated: [PersistentIdentifier] = []
    private(set) var deleted: [PersistentIdentifier] = []
    /// The properties that change, of the updated objects.
    private(set) var names: [PersistentIdentifier: Set<String>] = [:]
    /// The objects as they are in the store; nil for one that does not exist.
    private(set) var stored: [PersistentIdentifier: [String: Value]?] = [:]

    private let schema: LarderModel.Schema
    private let reader: Reader
    private var gone: Set<PersistentIdentifier> = []

    /// - Throws: `objectNotFound`, `deleteDenied`, and what the reader throws.
    init(
        _ changes: ChangeSet, _ schema: LarderModel.Schema, reading reader: @escaping Reader
    ) throws {
        self.schema = schema
        self.reader = reader
        try load(changes.changes.flatMap(Self.identifiers))
        try load(changes.changes.flatMap(formerLinks))
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

    // MARK: - Reading

    /// Reads objects that were not read yet.
    private mutating func load(_ identifiers: [PersistentIdentifier]) throws {
        let new = Set(identifiers.filter { !$0.isTemporary && stored[$0] == nil })
        guard !new.isEmpty else { return }
        let found = try reader(Array(new))
        for identifier in new { stored[identifier] = .some(found[identifier]) }
    }

    private mutating func read(_ identifier: PersistentIdentifier) throws -> [String: Value]? {
        try load([identifier])
        return stored[identifier] ?? nil
    }

    /// The objects that a change names.
    private static func identifiers(of change: Change) -> [PersistentIdentifier] {
        switch change {
        case .insert(let identifier, let values, let edits),
            .update(let identifier, _, let values, _, let edits):
            [identifier] + values.values.flatMap(\.links) + edits.flatMap(\.objects)
        case .delete(let identifier, _): [identifier]
        case .updateAll, .deleteAll: []
        }
    }

    /// The objects to which the object of a change was linked by a relationship that changes.
    private func formerLinks(of change: Change) -> [PersistentIdentifier] {
        guard let identifier = change.identifier, let row = stored[identifier] ?? nil else {
            return []
        }
        switch change {
        case .insert(_, let values, _), .update(_, _, let values, _, _):
            return values.keys.flatMap { row[$0]?.links ?? [] }
        case .delete: return row.values.flatMap(\.links)
        case .updateAll, .deleteAll: return []
        }
    }

    // MARK: - Changes

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
        deleted.append(identifier)
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
        replace(identifier, name, value)
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
            replace(target, name, .objects(old + [source]))
        } else {
            replace(target, name, .object(source))
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
        replace(
            target, name, relationship.isToMany ? .objects(old.filter { $0 != source }) : .null)
    }

    private mutating func replace(
        _ identifier: PersistentIdentifier, _ name: String, _ value: Value
    ) {
        rows[identifier]?[name] = value
        names[identifier, default: []].insert(name)
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
