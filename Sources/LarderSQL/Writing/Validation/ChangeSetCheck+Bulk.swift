import LarderModel
import LarderQuery

// Bulk updates and deletes: their query is planned, and their constant values are checked.
extension ChangeSetCheck {
    /// nil for a change of one object.
    mutating func plannedBulkChange(
        _ change: Change, _ index: Int
    ) throws(LarderError) -> PlannedChange? {
        switch change {
        case .insert, .update, .delete: return nil
        case .deleteAll(let selection):
            return .deleteAll(try plan(selection, [], index, for: .delete).selection)
        case .updateAll(let selection, let assignments):
            let (planned, typed) = try plan(selection, assignments, index, for: .update)
            let entity = schema.entities[planned.entity]
            var contents: [PlannedAssignment] = []
            // The stored values follow the key and the computed values.
            var column = 1 + typed.computedCount
            for (assignment, content) in zip(assignments, typed.contents) {
                guard let property = entity.properties[assignment.name] else { continue }
                var storedColumn: Int?
                if case .attribute = property {
                    storedColumn = column
                    column += 1
                }
                attempt(index, isOfValue: true) { check throws(LarderError) in
                    contents.append(
                        PlannedAssignment(
                            property: property,
                            content: try check.content(content, property, planned, index),
                            storedColumn: storedColumn))
                }
            }
            return .updateAll(planned, contents)
        }
    }

    private mutating func plan(
        _ selection: ObjectSelection, _ assignments: [PropertyAssignment], _ index: Int,
        for right: EntityRights.Right
    ) throws(LarderError) -> (selection: PlannedSelection, typed: TypedSelection) {
        let given = QueryParameters(
            arguments: selection.arguments, variables: selection.variables,
            argumentsAreText: selection.argumentsAreText, assumesUTC: selection.assumesUTC,
            limit: selection.limit)
        try given.checkLimits()
        let parameters = try given.mapObjects { (identifier) throws(LarderError) in
            try stored(identifier, index)
        }
        let (plan, typed) = try planner.plan(selection, assignments, parameters, for: right)
        // This finds errors of the values before the set changes anything.
        _ = try plan.statements(parameters, conversions)
        let planned = PlannedSelection(
            entity: try entityNumber(selection.entityName), plan: plan, parameters: parameters,
            wantsIdentifiers: selection.wantsIdentifiers)
        return (planned, typed)
    }

    /// Replaces the temporary identifier of an object that an earlier change inserts by the
    /// identifier that the object will have.
    private mutating func stored(
        _ identifier: PersistentIdentifier, _ index: Int
    ) throws(LarderError) -> PersistentIdentifier {
        guard case .temporary(let name) = identifier.key else { return identifier }
        guard let insertion = insertion(named: name),
            schema.isKind(insertion.object.entity, of: try entityNumber(identifier.entityName))
        else {
            throw LarderError(
                .invalidChangeSet,
                "an argument names \(identifier.uriRepresentation), which the set does not insert")
        }
        guard insertion.change < index else {
            throw LarderError(
                .invalidChangeSet,
                "an argument names \(identifier.uriRepresentation), which a later change inserts",
                hint: "insert it before the bulk update or delete")
        }
        return PersistentIdentifier(
            store: store, entityName: schema.entities[insertion.object.entity].name,
            key: insertion.object.key)
    }

    private mutating func content(
        _ content: TypedSelection.Content, _ property: StoredEntity.Property,
        _ selection: PlannedSelection, _ index: Int
    ) throws(LarderError) -> PlannedAssignment.Content {
        if case .attribute(let number) = property {
            let attribute = schema.entities[selection.entity].attributes[number]
            guard !attribute.attribute.isDerived else { throw Self.derivedError(attribute) }
        }
        let given: TypedValue
        switch content {
        case .computed(let column, let type): return .computed(1 + column, type)
        case .value(let value): given = value
        }
        let conversion = selection.plan.converter.conversion
        return try conversion.locating(given) { () throws(LarderError) in
            let value = try self.value(given, conversion, selection.parameters)
            switch property {
            case .attribute(let number):
                let attribute = schema.entities[selection.entity].attributes[number]
                return .attribute(try values.stored(value, attribute))
            case .relationship(let number):
                let targets = try targets(value, number)
                for target in targets where (target.insertedBy ?? -1) > index {
                    throw LarderError(
                        .invalidChangeSet,
                        "\(given.name) names an object that a later change inserts",
                        hint: "insert it before the bulk update or delete")
                }
                return .relationship(targets)
            }
        }
    }

    /// A single value, read as the type of the property that it is assigned to.
    private func value(
        _ given: TypedValue, _ conversion: QueryValueConversion, _ parameters: QueryParameters
    ) throws(LarderError) -> Value {
        guard case .value(let value) = try conversion.argument(given, parameters) else {
            throw LarderError(.wrongType, "\(given.name) takes one value, not a list")
        }
        switch (given.type, value) {
        case (.object, .string(let uri)):
            return .object(try PersistentIdentifier(text: uri, in: store))
        case (.attribute(let type), _):
            return try value.read(
                as: type, conversion.reading(given, parameters), comparedWith: given.name)
        default: return value
        }
    }
}

extension QueryParameters {
    /// The parameters with replaced object identifiers in arguments and variables.
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
