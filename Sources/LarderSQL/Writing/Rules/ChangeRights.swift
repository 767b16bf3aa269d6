import LarderModel
import LarderQuery
import Synchronization

/// The rights of a user for changes: the names that a change set may have, and the statements that
/// find objects for which the user does not have a right.
package final class ChangeRights: Sendable {
    package let limits: Rights
    package let planner: QueryPlanner
    /// The statements of ``violations(_:of:)``, nil for a right to all objects.
    private let statements = Mutex<[EntityRights.Right: [String: KeyStatement?]]>([:])

    /// - Parameter planner: Plans the user's queries, with the rules of the rights.
    package init(_ limits: Rights, _ planner: QueryPlanner) {
        self.limits = limits
        self.planner = planner
    }

    /// Selects the objects for which the user does not have a right; nil if the user has it for all
    /// objects of the entity. It is written once, because each change set needs it.
    func violations(
        _ right: EntityRights.Right, of entityName: String
    ) throws(LarderError) -> KeyStatement? {
        if let known = statements.withLock({ $0[right]?[entityName] }) { return known }
        let made = try planner.violations(right, of: entityName)
        statements.withLock { $0[right, default: [:]][entityName] = .some(made) }
        return made
    }

    /// Checks what the changes of a set name: entities that the role may change, and properties
    /// that are neither hidden nor frozen.
    package func check(_ changes: [Change]) throws(LarderError) {
        for change in changes {
            switch change {
            case .insert(let identifier, let values, let edits):
                let entity = try changedEntity(identifier.entityName, .insert)
                try check(Array(values.keys) + edits.map(\.propertyName), of: entity)
            case .update(let identifier, _, let values, let base, let edits):
                let entity = try changedEntity(
                    identifier.entityName, .update, identifier.uriRepresentation)
                let names = Array(values.keys) + edits.map(\.propertyName)
                try check(names + base.keys, of: entity)
                try checkFrozen(names, of: entity)
            case .delete(let identifier, _):
                _ = try changedEntity(
                    identifier.entityName, .delete, identifier.uriRepresentation)
            case .updateAll(let selection, let assignments):
                let entity = try changedEntity(selection.entityName, .update)
                try check(assignments.map(\.name), of: entity)
                try checkFrozen(assignments.map(\.name), of: entity)
            case .deleteAll(let selection): _ = try changedEntity(selection.entityName, .delete)
            }
        }
    }

    package func check(_ insertion: Insertion) throws(LarderError) {
        _ = try changedEntity(insertion.entityName, .insert)
    }

    private func changedEntity(
        _ name: String, _ right: EntityRights.Right, _ uri: String? = nil
    ) throws(LarderError) -> Entity {
        let current = planner.layout.formerNames[name] ?? name
        let entity = try limits.schema.existingEntity(named: current)
        let names = [current] + planner.layout.schema.subentities(of: current).map(\.name)
        guard names.contains(where: { limits.rule(right, of: $0) != .denied }) else {
            throw limits.denial(right, current, uri: uri)
        }
        return entity
    }

    private func check(_ names: [String], of entity: Entity) throws(LarderError) {
        for name in names { _ = try entity.existingProperty(named: name) }
    }

    /// The other side of a relationship must not be frozen either.
    private func checkFrozen(_ names: [String], of entity: Entity) throws(LarderError) {
        for name in names {
            if limits.isFrozen(name, of: entity.name) { throw limits.frozen(name, entity.name) }
            guard case .relationship(let relationship)? = entity.property(named: name),
                let inverse = relationship.inverse,
                limits.isFrozen(inverse, of: relationship.destination)
            else { continue }
            throw limits.frozen(inverse, relationship.destination)
        }
    }
}

extension Rights {
    func frozen(_ property: String, _ entityName: String) -> LarderError {
        LarderError(
            .permissionDenied,
            "the role \(role.name) may not change \(entityName).\(property) of an object that "
                + "exists",
            hint: "the policy of the store decides this")
    }
}
