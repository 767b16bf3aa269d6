import LarderModel
import LarderQuery
import LarderSQL
import Synchronization

/// A store as a user with limited rights sees it: without the names that are hidden, and without
/// the objects that the rules leave out.
///
/// Names are typed against the schema without the hidden ones, and lowered to the tables of the
/// whole schema. ``RowRules`` adds the rules for reading to each table of a query; ``RightsCheck``
/// checks changes.
final class LimitedView: StoreView {
    let storeDescription: StoreDescription
    let planner: QueryPlanner
    let limits: Rights
    /// The statements of ``violations(_:of:)``, nil for a right to all objects.
    private let statements = Mutex<[EntityRights.Right: [String: KeyStatement?]]>([:])

    /// - Parameter former: The view of the clients of a former schema, whose names the rights have;
    ///   nil for clients of the current one.
    /// - Throws: an error of a rule that does not fit the schema.
    init(
        _ rights: Rights, of store: Store, for former: (any StoreView)?
    ) throws(LarderError) {
        var description = store.storeDescription
        description.schema = rights.schema
        // It says which version of the schema the client has, and not what the user may see of it.
        if let former { description.fingerprint = former.storeDescription.fingerprint }
        storeDescription = description
        limits = rights
        let formerNames = store.layout.formerNames.filter {
            rights.names?.contains($0.value) ?? true
        }
        planner = QueryPlanner(
            layout: store.layout,
            converter: ValueConverter(
                storeIdentifier: description.identifier, schema: rights.schema,
                clock: store.options.clock, formerNames: formerNames),
            rules: try RowRules(rights, store.layout, store.valueConverter))
    }

    var knownNames: KnownNames? { limits.names }
    var rights: Rights? { limits }

    func plan(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> any QueryPlan {
        try planner.plan(query, parameters)
    }

    func reader(over reader: any StoreReader) -> any StoreReader {
        guard let reader = reader as? Reader else { preconditionFailure("a reader of this store") }
        return Reader(over: reader, planner.layout, planner.converter, planner.rules)
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

    // MARK: Changes

    /// Checks what the changes of a set name: entities that the role may change, and properties
    /// that are neither hidden nor frozen.
    func check(_ changes: [Change]) throws(LarderError) {
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

    func check(_ insertion: Insertion) throws(LarderError) {
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
