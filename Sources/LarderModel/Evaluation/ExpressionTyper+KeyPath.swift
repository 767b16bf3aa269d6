extension ExpressionTyper {
    /// A key path whose names have been resolved.
    struct KeyPath {
        let base: ObjectSlot
        let steps: [(step: PropertyStep, entity: Entity)]
        let type: OperandType
        /// The entity of the objects at its end; nil if the end is an attribute.
        let entity: Entity?
        /// The remaining path into the document of the json attribute at its end.
        let member: [String]

        var isToMany: Bool { steps.contains { $0.step.isToMany } }

        var name: String {
            guard let last = steps.last else { return base.entity.name }
            return "\(last.entity.name).\(last.step.name)"
        }
    }

    /// The object that `SELF` or a variable refers to.
    func slot(of base: QueryExpression) throws(LarderError) -> ObjectSlot {
        switch base {
        case .object: return ObjectSlot(entity: evaluator.entity, index: 0)
        case .variable(let name):
            guard let slot = variables[name] else {
                throw LarderError(
                    .unsupported,
                    "$\(name.prefix(32)) is not declared by an enclosing SUBQUERY, "
                        + "and a named value has no properties")
            }
            return slot
        default:
            throw LarderError(
                .unsupported, "a key path must begin at the object itself or at a variable")
        }
    }

    func keyPath(
        _ base: QueryExpression, _ names: [String]
    ) throws(LarderError) -> KeyPath {
        guard !names.isEmpty, names.count <= Limits.keyPathStepsMax else {
            throw LarderError(
                .resourceExhausted, "a key path must have 1 to \(Limits.keyPathStepsMax) steps")
        }
        return try keyPath(from: try slot(of: base), names)
    }

    /// Resolves a key path that starts at the given object.
    private func keyPath(
        from slot: ObjectSlot, _ names: [String]
    ) throws(LarderError) -> KeyPath {
        var entity: Entity? = slot.entity
        var type = OperandType.object(entityName: slot.entity.name)
        var steps: [(step: PropertyStep, entity: Entity)] = []
        for (number, name) in names.enumerated() {
            guard let owner = entity else {
                if type == .attribute(.json) {
                    return KeyPath(
                        base: slot, steps: steps, type: type, entity: nil,
                        member: Array(names[number...]))
                }
                throw LarderError(
                    .wrongType,
                    "\(steps.last?.step.name ?? "SELF") is \(type.nounWithArticle) "
                        + "and does not have a property \"\(name.prefix(32))\"",
                    hint: FormatHint.function(named: name, of: names[..<number]))
            }
            let (step, stepType, destination): (PropertyStep, OperandType, Entity?)
            do throws(LarderError) {
                (step, stepType, destination) = try self.step(name, of: owner)
            } catch {
                guard steps.last?.step.isToMany == true else { throw error }
                throw error.hinting(FormatHint.aggregate(named: name, of: names[..<number]))
            }
            steps.append((step, owner))
            type = stepType
            entity = destination
        }
        return KeyPath(base: slot, steps: steps, type: type, entity: entity, member: [])
    }

    private func step(
        _ name: String, of owner: Entity
    ) throws(LarderError) -> (PropertyStep, OperandType, Entity?) {
        let schema = evaluator.schema
        if let cast = schema.castDestination(named: name, of: owner) {
            let names = [cast.name] + schema.subentities(of: cast.name).map(\.name)
            let step = PropertyStep(name: name, kind: .cast(Set(names)))
            return (step, .object(entityName: cast.name), cast)
        }
        switch owner.property(named: name) {
        case .attribute(let attribute):
            let step = PropertyStep(name: name, kind: .attribute(attribute.type))
            return (step, .attribute(attribute.type), nil)
        case .relationship(let relationship):
            let kind = relationship.isToMany ? PropertyStep.Kind.toMany : .toOne
            return (
                PropertyStep(name: name, kind: kind),
                .object(entityName: relationship.destination),
                schema.entity(named: relationship.destination)
            )
        case nil:
            throw LarderError.unknownProperty(name, of: owner)
        }
    }

    /// Types a key path without to-many steps as a single value.
    func single(_ path: KeyPath) -> TypedOperand {
        var expression = TypedExpression.object(slot: path.base.index)
        for (step, _) in path.steps { expression = .step(step, of: expression) }
        return TypedOperand(expression: expression, type: path.type, name: path.name)
    }

    /// Whether an expression has any number of values.
    func isCollection(_ expression: QueryExpression) throws(LarderError) -> Bool {
        switch expression {
        case .subquery, .keyPath(.subquery, _): true
        case .keyPath(let base, let names): try keyPath(base, names).isToMany
        default: false
        }
    }

    /// Types a to-many key path or a SUBQUERY.
    mutating func elements(of expression: QueryExpression) throws(LarderError) -> TypedElements {
        switch expression {
        case .keyPath(let base, let names) where base.isSubquery:
            return try properties(names, of: try elements(of: base))
        case .keyPath(let base, let names):
            let path = try keyPath(base, names)
            guard path.isToMany else {
                throw LarderError(
                    .wrongType,
                    "\(path.name) is \(path.type.nounWithArticle), not a to-many relationship")
            }
            return try elements(path, from: .single(.object(slot: path.base.index)))
        case .subquery(let inner, let variable, let predicate):
            return try filtered(inner, variable, predicate)
        default:
            throw LarderError(.wrongType, "expected a to-many key path or a SUBQUERY")
        }
    }

    /// Types a property of the objects of a SUBQUERY.
    private func properties(
        _ names: [String], of objects: TypedElements
    ) throws(LarderError) -> TypedElements {
        guard let entity = objects.entity else {
            throw LarderError(
                .wrongType, "\(objects.name) is an attribute; expected objects")
        }
        let path = try keyPath(from: ObjectSlot(entity: entity, index: 0), names)
        return try elements(path, from: objects.collection)
    }

    private func elements(
        _ path: KeyPath, from base: TypedCollection
    ) throws(LarderError) -> TypedElements {
        var collection = base
        for (step, _) in path.steps { collection = .step(step, of: collection) }
        return TypedElements(
            collection: collection, type: path.type, entity: path.entity, member: path.member,
            name: path.name)
    }

    private mutating func filtered(
        _ inner: QueryExpression, _ variable: String, _ predicate: QueryExpression
    ) throws(LarderError) -> TypedElements {
        var elements = try elements(of: inner)
        guard let entity = elements.entity else {
            throw LarderError(
                .wrongType, "\(elements.name) is an attribute; expected objects")
        }
        let slot = slotCount
        let hidden = variables.updateValue(
            ObjectSlot(entity: entity, index: slot), forKey: variable)
        slotCount += 1
        let typed = try self.predicate(predicate)
        slotCount -= 1
        variables[variable] = hidden
        elements.collection = .filtered(.existing(elements.collection), slot: slot, typed)
        return elements
    }
}

extension PropertyStep {
    var isToMany: Bool {
        if case .toMany = kind { true } else { false }
    }
}
