import LarderModel

/// A role, resolved against a schema: its rules are parsed, and the names that it may not see are
/// left out of a schema.
package struct RoleRights: Sendable {
    /// For which objects a right holds.
    package enum Rule: Hashable, Sendable {
        case denied
        case granted
        case when(QueryExpression)
    }

    struct EntityEntry: Sendable {
        var rules: [EntityRights.Right: Rule] = [:]
        var watches = false
        var readsHistory = false
        var frozen: Set<String> = []
    }

    package let role: Role
    let wholeSchema: Schema
    /// The schema without what the role may not see.
    package let schema: Schema
    /// The names in it; nil if it is the whole schema.
    package let names: KnownNames?
    /// By the name of each entity of the whole schema.
    let entities: [String: EntityEntry]

    /// - Parameter former: The schema for which the client was built; nil for this one. Other names
    ///   are left out.
    /// - Throws: `malformedValue` with all problems, as after a change of the schema.
    package init(
        _ role: Role, in schema: Schema, knownTo former: Schema? = nil
    ) throws(LarderError) {
        var problems: [LocatedProblem] = []
        self.init(role, at: .root, in: schema, knownTo: former, &problems)
        guard problems.isEmpty else {
            throw LarderError(
                .malformedValue, "the role \(role.name) does not fit the schema of the store",
                problems: problems.map { $0.problem.description })
        }
    }

    static func problems(
        of role: Role, at path: SchemaPath, in schema: Schema
    ) -> [LocatedProblem] {
        var problems: [LocatedProblem] = []
        _ = RoleRights(role, at: path, in: schema, knownTo: nil, &problems)
        return problems
    }

    private init(
        _ role: Role, at path: SchemaPath, in schema: Schema, knownTo former: Schema?,
        _ problems: inout [LocatedProblem]
    ) {
        let path = path["entities"]
        var reader = RuleReader(schema: schema)
        for (name, rights) in role.entities.sorted(by: { $0.key < $1.key }) {
            reader.read(rights, name, at: path[name])
        }
        self.role = role
        wholeSchema = schema
        var entities: [String: EntityEntry] = [:]
        var hidden: [String: Set<String>] = [:]
        var unreadable: Set<String> = []
        for entity in schema.entities {
            let names = schema.lineage(of: entity).reversed().map(\.name) + [Role.everyEntity]
            let name = names.first { role.entities[$0] != nil }
            let entry = name.flatMap { reader.entries[$0] } ?? EntityEntry()
            entities[entity.name] = entry
            for name in names {
                hidden[entity.name, default: []].formUnion(role.entities[name]?.hidden ?? [])
            }
            if (entry.rules[.read] ?? .denied) == .denied { unreadable.insert(entity.name) }
            guard let former else { continue }
            guard let known = former.entity(named: entity.name) else {
                // As a subentity, its objects are among those of an entity that is known.
                entities[entity.name]?.rules[.read] = .denied
                unreadable.insert(entity.name)
                continue
            }
            hidden[entity.name, default: []].formUnion(
                Set(entity.allNames).subtracting(known.allNames))
        }
        self.entities = entities
        // An ancestor stays, for the entities that inherit from it; it has no objects to see.
        let invisible = unreadable.filter { name in
            schema.subentities(of: name).allSatisfy { unreadable.contains($0.name) }
        }
        if invisible.isEmpty, hidden.values.allSatisfy(\.isEmpty), former == nil {
            (self.schema, names) = (schema, nil)
        } else {
            do throws(SchemaError) {
                self.schema = try schema.hiding(
                    entities: invisible, properties: hidden,
                    version: former?.version ?? schema.version)
            } catch {
                self.schema = schema
                if invisible.count < schema.entities.count {
                    reader.problems += error.problems.map {
                        LocatedProblem(
                            path: path, message: "what the role sees is no schema: \($0)")
                    }
                } else {
                    reader.problems.append(
                        LocatedProblem(path: path, message: "the role may read no entity"))
                }
            }
            names = KnownNames(self.schema, reason: .hidden)
        }
        reader.checkDerivations(of: self, at: path)
        problems = reader.problems
    }

    /// Whether some objects of an entity, or of its subentities, may not be read.
    func restrictsObjects(of entityName: String, in schema: Schema) -> Bool {
        let names = [entityName] + schema.subentities(of: entityName).map(\.name)
        return names.contains { (entities[$0]?.rules[.read] ?? .denied) != .granted }
    }
}

/// Parses and types the rules of a role.
private struct RuleReader {
    let schema: Schema
    /// By the key in the policy.
    var entries: [String: RoleRights.EntityEntry] = [:]
    var problems: [LocatedProblem] = []

    mutating func read(_ rights: EntityRights, _ name: String, at path: SchemaPath) {
        let entity = schema.entity(named: name)
        if entity == nil, name != Role.everyEntity {
            report(
                path,
                NameSuggestion.appended(
                    to: "there is no entity \(LarderError.printable(name))", for: name,
                    among: schema.entities.map(\.name), after: problems.count))
            return
        }
        var entry = RoleRights.EntityEntry()
        for (right, rule) in rights.rules {
            switch rule {
            case .denied: entry.rules[right] = .denied
            case .granted: entry.rules[right] = .granted
            case .when(let text):
                guard let entity else {
                    report(path[right.rawValue], "a predicate requires the name of an entity")
                    continue
                }
                do throws(LarderError) {
                    entry.rules[right] = .when(try expression(text, entity))
                } catch {
                    let hint = error.hint.map { " (\($0))" } ?? ""
                    report(path[right.rawValue], error.message + hint)
                }
            }
        }
        (entry.watches, entry.readsHistory) = (rights.watches, rights.readsHistory)
        entry.frozen = rights.frozen
        entries[name] = entry
        for (key, names) in [("hidden", rights.hidden), ("frozen", rights.frozen)] {
            for property in names.sorted() { check(property, entity, at: path[key]) }
        }
    }

    private mutating func check(_ property: String, _ entity: Entity?, at path: SchemaPath) {
        guard let entity else { return report(path, "requires the name of an entity") }
        guard let found = entity.property(named: property) else {
            return report(
                path,
                NameSuggestion.appended(
                    to: "\(entity.name) has no property \(LarderError.printable(property))",
                    for: property, among: entity.allNames, after: problems.count))
        }
        let declarer = schema.declaringEntity(of: property, in: entity)
        if declarer.name != entity.name {
            report(path, "\(property) is declared by \(declarer.name); name it there")
        }
        if case .attribute(let attribute) = found, path.steps.last == .key("hidden"),
            !attribute.isOptional, attribute.defaultValue == nil, attribute.derivation == nil,
            entries[entity.name]?.rules[.insert].map({ $0 != .denied }) ?? false
        {
            report(
                path, "\(property) is required, so that a role that may insert must see it")
        }
    }

    /// A parsed rule. It is typed with a sample of a user, so that its names and types are right.
    private func expression(
        _ text: String, _ entity: Entity
    ) throws(LarderError) -> QueryExpression {
        let parsed = try PredicateFormat.parse(
            text, arguments: [], firstArgument: 0, name: "predicate")
        for name in parsed.expression.freeVariables.sorted()
        where !Principal.variableNames.contains(name) {
            throw LarderError(
                .malformedPredicate, "there is no variable $\(LarderError.printable(name))",
                hint: "the variables of rules are "
                    + Principal.variableNames.map { "$\($0)" }.joined(separator: ", "))
        }
        guard parsed.argumentsUsed == 0 else {
            throw LarderError(.malformedPredicate, "a rule takes no arguments (%@)")
        }
        try parsed.expression.checkLimits()
        guard !parsed.expression.namesObject else {
            throw LarderError(
                .unsupported, "a rule does not name a single object",
                hint: "compare an attribute of it: list.name == \"Inbox\"")
        }
        let conversion = QueryValueConversion(
            schema: schema, store: nil, acceptsTemporaryObjects: false)
        let query = Query.count(entityName: entity.name, predicate: .format(text))
        // The text first, for the column of an error.
        _ = try QueryTyper(entityName: entity.name, conversion: conversion).query(query)
        let tree = parsed.expression.replacingVariables(Principal.sample.variables)
        let bound = Query.count(entityName: entity.name, predicate: .tree(tree))
        _ = try QueryTyper(entityName: entity.name, conversion: conversion).query(bound)
        return parsed.expression
    }

    /// A derived value is computed from all objects. It must be hidden from those who may not see
    /// all of them.
    mutating func checkDerivations(of rights: RoleRights, at path: SchemaPath) {
        for derivation in schema.derivations {
            guard let entity = rights.schema.entity(named: derivation.entityName),
                entity.property(named: derivation.attribute.name) != nil,
                let whole = schema.entity(named: derivation.entityName)
            else { continue }
            for name in derivation.sources.compactMap(\.relationshipName).sorted() {
                guard case .relationship(let relationship)? = whole.property(named: name),
                    rights.restrictsObjects(of: relationship.destination, in: schema)
                else { continue }
                report(
                    path,
                    "\(derivation.qualifiedName) is computed from all objects of "
                        + "\(relationship.destination), of which the role sees a part; hide it")
            }
        }
    }

    private mutating func report(_ path: SchemaPath, _ message: String) {
        problems.append(LocatedProblem(path: path, message: message))
    }
}

extension Derivation.Source {
    /// The name of a relationship, or of an attribute of the object itself.
    fileprivate var relationshipName: String? {
        switch self {
        case .own(let name): name
        case .related(let name, _): name
        }
    }
}
