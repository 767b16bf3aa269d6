import LarderModel

extension QueryTyper {
    /// The object that `SELF` or a variable refers to.
    func object(_ base: QueryExpression) throws(LarderError) -> TypedObject {
        switch base {
        case .object: return root
        case .variable(let name):
            guard let object = variables[name] else {
                throw LarderError(
                    .unsupported,
                    "$\(LarderError.printable(name)) is not declared by an enclosing SUBQUERY, "
                        + "and a named value has no properties")
            }
            return object
        default:
            throw LarderError(
                .unsupported, "a key path must begin at the object itself or at a variable")
        }
    }

    /// Resolves the names of a key path.
    func keyPath(
        _ base: QueryExpression, _ names: [String]
    ) throws(LarderError) -> TypedKeyPath {
        try locating(.keyPath(base, names)) { () throws(LarderError) in
            guard !names.isEmpty, names.count <= Limits.keyPathStepsMax else {
                throw LarderError(
                    .resourceExhausted, "a key path must have 1 to \(Limits.keyPathStepsMax) steps")
            }
            return try keyPath(names, from: try object(base), base)
        }
    }

    /// Resolves a key path that begins at an object.
    func keyPath(
        _ names: [String], from object: TypedObject, _ start: QueryExpression
    ) throws(LarderError) -> TypedKeyPath {
        var entity: Entity? = object.entity
        var steps: [TypedStep] = []
        var type = OperandType.object(entityName: object.entity.name)
        for (index, name) in names.enumerated() {
            currentStep = index
            guard let current = entity else {
                if type == .attribute(.json) {
                    currentStep = nil
                    return TypedKeyPath(
                        base: object, start: start, steps: steps, members: Array(names[index...]),
                        type: type)
                }
                let last = steps[steps.count - 1]
                throw LarderError(
                    .wrongType,
                    "\(last.entity.name).\(last.name) is \(type.nounWithArticle) "
                        + "and has no property \"\(LarderError.printable(name))\"",
                    hint: FormatHint.function(named: name, of: names[..<index]))
            }
            let kind: TypedStep.Kind
            do throws(LarderError) {
                kind = try step(named: name, of: current)
            } catch {
                guard steps.last?.isToMany == true else { throw error }
                throw error.hinting(FormatHint.aggregate(named: name, of: names[..<index]))
            }
            if case .cast(let subentity) = kind, subentity.name == current.name { continue }
            steps.append(TypedStep(entity: current, name: name, kind: kind))
            switch kind {
            case .attribute(let attribute):
                type = .attribute(attribute.type)
                entity = nil
            case .relationship(let relationship):
                type = .object(entityName: relationship.destination)
                entity = try schema.existingEntity(named: relationship.destination)
            case .cast(let subentity):
                type = .object(entityName: subentity.name)
                entity = subentity
            }
        }
        currentStep = nil
        return TypedKeyPath(base: object, start: start, steps: steps, type: type)
    }

    private func step(
        named name: String, of entity: Entity
    ) throws(LarderError) -> TypedStep.Kind {
        if let subentity = schema.castDestination(named: name, of: entity) {
            return .cast(subentity)
        }
        return switch try property(named: name, of: entity) {
        case .attribute(let attribute): .attribute(attribute)
        case .relationship(let relationship): .relationship(relationship)
        }
    }

    /// A property, or an error with a hint to subentities that have such a property.
    func property(named name: String, of entity: Entity) throws(LarderError) -> Property {
        do throws(LarderError) {
            return try entity.existingProperty(named: name)
        } catch {
            let declaring = schema.subentities(of: entity.name).filter { subentity in
                subentity.property(named: name) != nil
                    && schema.declaringEntity(of: name, in: subentity).name == subentity.name
            }
            guard !declaring.isEmpty else { throw error }
            let names = declaring.prefix(3).map(\.name).joined(separator: " or ")
            throw error.hinting(
                "it is declared in a subentity; write \(declaring[0].name).\(name), or query "
                    + "\(names) instead")
        }
    }

    /// The operand at the end of a key path without to-many steps.
    func operand(_ path: TypedKeyPath) -> TypedOperand {
        guard !path.members.isEmpty else { return .property(path, name: path.name) }
        var document = path
        document.members = []
        return .member(
            TypedMember(document: .property(document, name: path.name), path: path.members))
    }

    /// The key path to the object that an expression denotes.
    func objectPath(_ expression: QueryExpression) throws(LarderError) -> TypedKeyPath {
        if outputs != nil { throw havingNeedsOutputs }
        if isValue(expression) { throw needsObject }
        switch expression {
        case .object, .variable: return try selfPath(expression)
        case .keyPath(let base, let names):
            if base.isSubquery { throw subqueryIsNoValue }
            let path = try keyPath(base, names)
            guard !path.isToMany else { throw needsModifier(path) }
            guard case .object = path.type else { throw needsObject }
            return path
        default: throw needsObject
        }
    }

    /// `SELF` or a variable as a key path without steps.
    func selfPath(_ expression: QueryExpression) throws(LarderError) -> TypedKeyPath {
        path(to: try object(expression), expression)
    }

    func path(to object: TypedObject, _ start: QueryExpression) -> TypedKeyPath {
        TypedKeyPath(
            base: object, start: start, steps: [], type: .object(entityName: object.entity.name))
    }

    private var needsObject: LarderError {
        LarderError(.wrongType, "IS needs an object on its left side")
    }
}
