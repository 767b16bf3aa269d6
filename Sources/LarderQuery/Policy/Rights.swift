import LarderModel

/// The rights of one user to a store: those of a role, with the user's names and numbers in
/// its rules.
package final class Rights: Sendable {
    package typealias Rule = RoleRights.Rule

    package let principal: Principal
    private let resolved: RoleRights
    /// The names of the entities of which some objects, but not all, may be read.
    package let partlyReadable: Set<String>
    /// The rules of each entity of the whole schema, whose variables have values.
    private let rules: [String: [EntityRights.Right: Rule]]

    package init(_ resolved: RoleRights, of principal: Principal) {
        self.resolved = resolved
        self.principal = principal
        historyNames = KnownNames(resolved.schema, reason: .hidden) { name in
            resolved.entities[name]?.readsHistory ?? false
        }
        partlyReadable = Set(
            resolved.entities.filter { _, entry in
                if case .when? = entry.rules[.read] { true } else { false }
            }.keys)
        let values = principal.variables
        rules = resolved.entities.mapValues { entry in
            entry.rules.mapValues { rule in
                guard case .when(let expression) = rule else { return rule }
                return .when(expression.replacingVariables(values))
            }
        }
    }

    package var role: Role { resolved.role }

    /// The schema without what the user may not see.
    package var schema: Schema { resolved.schema }

    /// The names in it; nil if it is the whole schema.
    package var names: KnownNames? { resolved.names }

    /// The schema of the store.
    package var wholeSchema: Schema { resolved.wholeSchema }

    package func rule(_ right: EntityRights.Right, of entityName: String) -> Rule {
        rules[entityName]?[right] ?? .denied
    }

    package func may(_ right: Role.StoreRight) -> Bool { role.rights.contains(right) }

    package func mayWatch(_ entityName: String) -> Bool {
        resolved.entities[entityName]?.watches ?? false
    }

    /// The names of which the history may be read.
    package let historyNames: KnownNames

    package func isFrozen(_ property: String, of entityName: String) -> Bool {
        resolved.entities[entityName]?.frozen.contains(property) ?? false
    }

    /// Whether the user sees less than the whole store.
    package var isLimited: Bool {
        names != nil || rules.values.contains { $0[.read] ?? .denied != .granted }
    }

    /// The names of all entities whose objects decide which objects may be read.
    package var ruleEntities: Set<String> {
        var names: Set<String> = []
        for (entityName, rules) in rules {
            guard case .when(let expression)? = rules[.read],
                let entity = wholeSchema.entity(named: entityName)
            else { continue }
            var dependencies = QueryDependencies(of: entity, in: wholeSchema)
            dependencies.add(expression)
            names.formUnion(dependencies.entityNames)
        }
        return names
    }

    /// The error of a change that the role does not permit.
    package func denial(
        _ right: EntityRights.Right, _ entityName: String, uri: String? = nil
    ) -> LarderError {
        let object = uri ?? "objects of \(entityName)"
        return LarderError(
            .permissionDenied, "the role \(role.name) may not \(right.rawValue) \(object)",
            hint: "the policy of the store decides this", uri: uri)
    }
}
