import LarderModel

extension QueryTyper {
    /// The elements of a collection: the objects or the attributes at the end of a to-many key
    /// path, or the objects of a SUBQUERY.
    func elements(of expression: QueryExpression) throws(LarderError) -> TypedCollection {
        try locating(expression) { () throws(LarderError) in
            switch expression {
            case .keyPath(let base, let names) where base.isSubquery:
                let (objects, object) = try objects(of: base)
                let path = try keyPath(names, from: object, base)
                return try collection(objects.parts, path, expression)
            case .keyPath(let base, let names):
                let path = try keyPath(base, names)
                guard path.isToMany || path.type == .attribute(.json) else {
                    throw LarderError(
                        .wrongType,
                        "\(path.name) is \(path.type.nounWithArticle), not a to-many relationship")
                }
                return try collection([], path, expression)
            case .subquery(let inner, let variable, let predicate):
                var (objects, object) = try objects(of: inner)
                let hidden = variables.updateValue(object, forKey: variable)
                defer { variables[variable] = hidden }
                let typed = try within(objects) { () throws(LarderError) in
                    try self.predicate(predicate)
                }
                objects.parts[objects.parts.count - 1].predicates.append(typed)
                return objects
            default:
                throw LarderError(.wrongType, "expected a to-many key path or a SUBQUERY")
            }
        }
    }

    /// A collection of objects, without nil, and an object of it.
    private func objects(
        of expression: QueryExpression
    ) throws(LarderError) -> (TypedCollection, TypedObject) {
        var elements = try elements(of: expression)
        guard let object = elements.object else {
            throw LarderError(
                .wrongType, "\(elements.element.name) is an attribute; expected objects")
        }
        elements.parts[elements.parts.count - 1].excludesNil = true
        return (elements, object)
    }

    /// The elements at the end of a key path, which begins at those of the last part, or of an
    /// array in JSON at its end.
    private func collection(
        _ parts: [TypedCollection.Part], _ path: TypedKeyPath, _ expression: QueryExpression
    ) throws(LarderError) -> TypedCollection {
        let slot = parts.last.map { $0.slot + 1 } ?? slotCount
        var stored = path
        stored.members = []
        if parts.isEmpty, !path.isToMany {
            let name = ([path.name] + path.members).joined(separator: ".")
            let element = TypedElement(slot: slot, type: path.type, name: name)
            let part = TypedCollection.Part(path: stored, array: path.members, slot: slot)
            return TypedCollection(
                parts: [part],
                element: .member(TypedMember(document: .element(element), path: [])))
        }
        let element: TypedOperand
        switch path.type {
        case .object(let entityName):
            let object = TypedObject(
                slot: slot, entity: try schema.existingEntity(named: entityName))
            element = .property(self.path(to: object, expression), name: path.name)
        case .attribute:
            let value = TypedElement(slot: slot, type: path.type, name: path.name)
            element =
                path.members.isEmpty
                ? .element(value)
                : .member(TypedMember(document: .element(value), path: path.members))
        }
        return TypedCollection(
            parts: parts + [TypedCollection.Part(path: stored, slot: slot)], element: element)
    }

    /// Types an expression that is computed for each element of a collection.
    func within<Result>(
        _ collection: TypedCollection, _ type: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        let outer = slotCount
        slotCount = collection.parts[collection.parts.count - 1].slot + 1
        defer { slotCount = outer }
        return try type()
    }

    // MARK: Values of collections

    /// Key paths with a collection operator, for example `articles.@sum.wordCount`.
    func collection(
        _ function: AggregateFunction, _ expression: QueryExpression
    ) throws(LarderError) -> TypedOperand {
        var elements: TypedCollection
        do throws(LarderError) {
            elements = try self.elements(of: expression)
        } catch {
            throw error.hinting(atAggregateOf: expression)
        }
        let isOfObjects = elements.object != nil
        if isOfObjects { elements.parts[elements.parts.count - 1].excludesNil = true }
        let isArray = elements.parts[0].array != nil
        let name = "\(elements.element.name).@\(function.collectionOperator)"
        // The null elements of an array count.
        if function == .count, isOfObjects || isArray {
            return .collection(.count, elements, nil, .int64, name: name)
        }
        let (element, type) = try Self.aggregated(elements.element, by: function)
        return .collection(function, elements, element, type, name: name)
    }

    /// The argument of an aggregate function for an operand, and its result type. Throws if the
    /// function is not defined for the operand's type.
    static func aggregated(
        _ operand: TypedOperand, by function: AggregateFunction
    ) throws(LarderError) -> (operand: TypedOperand, type: OperandType) {
        if function == .count || function == .countDistinct { return (operand, .int64) }
        let read = function.needsNumbers ? operand.reading(as: .attribute(.double)) : operand
        guard let type = read.type else {
            throw LarderError(
                .wrongType, "\(function.rawValue) of an argument alone has no known type")
        }
        return (read, try function.resultType(of: type, named: read.name))
    }
}
