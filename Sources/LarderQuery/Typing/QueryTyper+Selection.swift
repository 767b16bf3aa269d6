import LarderModel

/// The query of a change by predicate, which runs before the change, or of a condition.
package struct TypedSelection: Sendable {
    package enum Content: Sendable {
        /// A single value of the change.
        case value(TypedValue)
        /// An expression, by its index among the computed columns.
        case computed(Int, OperandType)
    }

    /// The columns: the object's key, the computed values, the current values of assigned
    /// attributes.
    package var query: TypedQuery
    package var computedCount: Int
    /// The new value of each assigned property, in the order of the assignments.
    package var contents: [Content]
}

extension QueryTyper {
    package func selection(
        _ selection: ObjectSelection, named name: String, _ assignments: [PropertyAssignment]
    ) throws(LarderError) -> TypedSelection {
        try Self.checkCount(assignments.count, of: "assignments")
        try Self.checkCount(selection.sort.count, of: "sort keys")
        let predicate = try predicate(source.predicate(selection.predicate, named: name))
        guard selection.limit != nil || selection.sort.isEmpty else {
            throw LarderError(
                .unsupported, "all objects that match are changed, so their order has no effect",
                hint: "pass a limit with the sort keys, or no sort keys")
        }
        var order: [TypedQuery.Order] = []
        if selection.limit != nil {
            order = try self.order(selection.sort)
            order.append(TypedQuery.Order(key: .operand(ownIdentifier)))
        }
        var computed: [TypedQuery.OutputColumn] = []
        var stored: [TypedQuery.OutputColumn] = []
        var contents: [TypedSelection.Content] = []
        for (index, assignment) in assignments.enumerated() {
            let name = assignment.name
            guard !assignments[..<index].contains(where: { $0.name == name }) else {
                throw LarderError(
                    .invalidChangeSet,
                    "\(entity.name).\(LarderError.printable(name)) is assigned twice")
            }
            let property = try self.property(named: name, of: entity)
            switch try assigned(assignment, to: property) {
            case .value(let value): contents.append(.value(value))
            case .operand(let operand, let type):
                contents.append(.computed(computed.count, type))
                computed.append(try outputColumn(name, operand))
            }
            if case .attribute = property {
                let own = QueryExpression.keyPath(.object, [name])
                stored.append(try outputColumn(name, self.operand(own)))
            }
        }
        let key = TypedQuery.OutputColumn(name: entity.name, content: .operand(ownIdentifier))
        let query = TypedQuery(
            verb: .fetch, entity: entity, includesSubentities: includesSubentities,
            predicate: predicate, columns: [key] + computed + stored, order: order)
        return TypedSelection(
            query: query, computedCount: computed.count, contents: contents)
    }

    private enum Assigned {
        case value(TypedValue)
        case operand(TypedOperand, OperandType)
    }

    /// The new value of a property, of a type that it accepts.
    private func assigned(
        _ assignment: PropertyAssignment, to property: Property
    ) throws(LarderError) -> Assigned {
        let name = "\(entity.name).\(assignment.name)"
        let wanted: OperandType
        switch property {
        case .attribute(let attribute): wanted = .attribute(attribute.type)
        case .relationship(let relationship):
            guard !relationship.isToMany else {
                throw LarderError(
                    .unsupported, "\(name) is a list, which is set for one object at a time",
                    hint: "set its inverse, or update the objects by name")
            }
            wanted = .object(entityName: relationship.destination)
        }
        let expression = try value(assignment.term, named: "value of \(assignment.name)")
        try expression.checkLimits()
        return try locating(expression) { () throws(LarderError) in
            if let source = givenSource(expression) {
                return .value(TypedValue(source: source, type: wanted, name: name))
            }
            let operand = try computed(expression, as: wanted, name)
            guard let type = operand.type else {
                throw LarderError(
                    .wrongType, "the type of \(operand.name) is unknown")
            }
            guard type.isAssignable(to: wanted, in: schema) else {
                throw LarderError(
                    .wrongType,
                    "\(name) takes \(wanted.nounWithArticle), "
                        + "but the value is \(type.nounWithArticle)")
            }
            return .operand(operand, type)
        }
    }

    private func computed(
        _ expression: QueryExpression, as wanted: OperandType, _ name: String
    ) throws(LarderError) -> TypedOperand {
        if case .keyPath(let base, let names) = expression, !base.isSubquery {
            let path = try keyPath(base, names)
            guard !path.isToMany else {
                throw LarderError(
                    .wrongType,
                    "the key path to \(path.name) leads to many objects, not to one value")
            }
        }
        let operand = try operand(expression, as: wanted, name: name)
        guard case .attribute(let type) = wanted else { return operand }
        return operand.reading(as: type == .json ? .json : .attribute(type.widened))
    }

    /// The source of a single value; nil for an expression.
    private func givenSource(_ expression: QueryExpression) -> TypedValue.Source? {
        guard isValue(expression) else { return nil }
        switch expression {
        case .constant(let value): return .constant(value)
        case .argument(let index): return .argument(index)
        case .variable(let name): return .variable(name)
        default: return nil
        }
    }
}

extension OperandType {
    /// Whether a property of the other type accepts values of this one. A single value may still be
    /// out of range.
    fileprivate func isAssignable(to other: OperandType, in schema: Schema) -> Bool {
        if self == other { return true }
        if case (.object(let name), .object(let wanted)) = (self, other) {
            return schema.isKind(name, of: wanted)
        }
        guard case .attribute(let own) = self, case .attribute(let type) = other else {
            return false
        }
        if own.isInteger { return type.isNumber }
        return (own == .float || own == .double)
            && (type == .float || type == .double || type == .decimal)
    }
}
