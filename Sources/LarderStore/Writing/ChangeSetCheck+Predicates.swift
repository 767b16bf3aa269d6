import LarderModel

// Changes by predicate: their query is planned, and the values that they bring along are checked.
extension ChangeSetCheck {
    /// nil for a change by name.
    mutating func plannedByPredicate(
        _ change: Change, _ place: Int
    ) throws(LarderError) -> PlannedChange? {
        switch change {
        case .insert, .update, .delete: return nil
        case .deleteAll(let selection):
            return .deleteAll(try plan(selection, [], place).selection)
        case .updateAll(let selection, let assignments):
            let (planned, resolved) = try plan(selection, assignments, place)
            let entity = schema.entities[planned.entity]
            var contents: [PlannedAssignment] = []
            // The columns as they were follow the key and what is computed.
            var column = 1 + resolved.computedCount
            for (assignment, content) in zip(assignments, resolved.contents) {
                guard let property = entity.places[assignment.name] else { continue }
                var was: Int?
                if case .attribute = property {
                    was = column
                    column += 1
                }
                attempt(place, isOfValue: true) { check throws(LarderError) in
                    contents.append(
                        PlannedAssignment(
                            place: property,
                            content: try check.content(content, property, planned, place),
                            was: was))
                }
            }
            return .updateAll(planned, contents)
        }
    }

    private mutating func plan(
        _ selection: ObjectSelection, _ assignments: [PropertyAssignment], _ place: Int
    ) throws(LarderError) -> (selection: PlannedSelection, resolved: ResolvedSelection) {
        let given = QueryParameters(
            arguments: selection.arguments, variables: selection.variables,
            argumentsAreText: selection.argumentsAreText)
        try given.checkLimits()
        let parameters = try given.mapObjects { (identifier) throws(LarderError) in
            try stored(identifier, place)
        }
        let (plan, resolved) = try planner.plan(selection, assignments, parameters)
        // What is wrong with the values is said before the set changes anything.
        _ = try plan.statements(parameters)
        let planned = PlannedSelection(
            entity: try entityNumber(selection.entityName), plan: plan, parameters: parameters,
            wantsIdentifiers: selection.wantsIdentifiers)
        return (planned, resolved)
    }

    /// An object that an earlier change inserts, by the key that it will have.
    private mutating func stored(
        _ identifier: PersistentIdentifier, _ place: Int
    ) throws(LarderError) -> PersistentIdentifier {
        guard case .temporary(let name) = identifier.key else { return identifier }
        guard let insertion = insertion(named: name),
            schema.isKind(insertion.object.entity, of: try entityNumber(identifier.entityName))
        else {
            throw LarderError(
                .invalidChangeSet,
                "an argument names \(identifier.uriRepresentation), which the set does not insert")
        }
        guard insertion.change < place else {
            throw LarderError(
                .invalidChangeSet,
                "an argument names \(identifier.uriRepresentation), which a later change inserts",
                hint: "insert it before the change by predicate")
        }
        return PersistentIdentifier(
            store: store, entityName: schema.entities[insertion.object.entity].name,
            key: insertion.object.key)
    }

    private mutating func content(
        _ content: ResolvedSelection.Content, _ property: StoredEntity.Place,
        _ selection: PlannedSelection, _ place: Int
    ) throws(LarderError) -> PlannedAssignment.Content {
        if case .attribute(let number) = property {
            let attribute = schema.entities[selection.entity].attributes[number]
            guard !attribute.attribute.isDerived else { throw Self.isDerived(attribute) }
        }
        let given: PlanValue
        switch content {
        case .computed(let column, let type): return .computed(1 + column, type)
        case .value(let value): given = value
        }
        let converter = selection.plan.converter
        return try converter.locating(given) { () throws(LarderError) in
            let value = try self.value(given, converter, selection.parameters)
            switch property {
            case .attribute(let number):
                let attribute = schema.entities[selection.entity].attributes[number]
                return .attribute(try values.stored(value, attribute))
            case .relationship(let number):
                let targets = try targets(value, number)
                for target in targets where (target.insertedBy ?? -1) > place {
                    throw LarderError(
                        .invalidChangeSet,
                        "\(given.name) names an object that a later change inserts",
                        hint: "insert it before the change by predicate")
                }
                return .relationship(targets)
            }
        }
    }

    /// A value alone, read as the type of what it is assigned to.
    private func value(
        _ given: PlanValue, _ converter: ValueConverter, _ parameters: QueryParameters
    ) throws(LarderError) -> Value {
        guard case .value(let value) = try converter.argument(given, parameters) else {
            throw LarderError(.wrongType, "\(given.name) takes one value, not a list")
        }
        switch (given.type, value) {
        case (.object, .string(let uri)):
            return .object(try PersistentIdentifier(uriRepresentation: uri))
        case (.attribute(let type), _):
            return try value.read(
                as: type, isText: converter.isText(given, parameters), beside: given.name)
        default: return value
        }
    }
}

extension QueryParameters {
    /// The same with other objects among arguments and variables.
    func mapObjects(
        _ map: (PersistentIdentifier) throws(LarderError) -> PersistentIdentifier
    ) throws(LarderError) -> QueryParameters {
        func mapped(_ value: Value) throws(LarderError) -> Value {
            guard case .object(let identifier) = value else { return value }
            return .object(try map(identifier))
        }
        func mapped(_ argument: QueryArgument) throws(LarderError) -> QueryArgument {
            switch argument {
            case .value(let value): return .value(try mapped(value))
            case .list(let values):
                return .list(try values.map { (value) throws(LarderError) in try mapped(value) })
            }
        }
        var parameters = self
        parameters.arguments = try arguments.map { (argument) throws(LarderError) in
            try mapped(argument)
        }
        for (name, argument) in variables { parameters.variables[name] = try mapped(argument) }
        return parameters
    }
}
