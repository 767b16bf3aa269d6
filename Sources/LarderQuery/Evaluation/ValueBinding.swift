import LarderModel

/// Binds a typed expression to the values of one run, so that it can be evaluated in memory. The
/// store lowers the same expression to SQL.
struct ValueBinding {
    let evaluator: Evaluator

    func predicate(_ predicate: TypedPredicate) throws(LarderError) -> BoundPredicate {
        switch predicate {
        case .constant(let bool): return .constant(bool)
        case .isTrue(let tested): return .isTrue(try operand(tested))
        case .decided(let comparison):
            let conversion = evaluator.conversion
            return .constant(
                try comparison.holds(evaluator.parameters, conversion) {
                    value throws(LarderError) in
                    try typed(value)
                })
        case .comparison(let left, let comparison, let right, let options):
            let bound = BoundPredicate.comparison(
                try operand(left), comparison, try operand(right), options: options)
            try checkPattern(of: bound)
            return bound
        case .between(let value, let lower, let upper, let options):
            return .between(
                try operand(value), try operand(lower), try operand(upper), options: options)
        case .oneOf(let value, let list, let options):
            return .in(try operand(value), try operands(list), options: options)
        case .oneOfList(let value, let list, let options):
            return .inValues(
                try operand(value),
                ValueList(
                    try evaluator.conversion.elements(of: list, evaluator.parameters), options))
        case .isKind(let path, let entity):
            return .isKind(property(path), evaluator.schema.names(ofKind: entity))
        case .and(let parts): return .and(try predicates(parts))
        case .or(let parts): return .or(try predicates(parts))
        case .not(let part): return .not(try self.predicate(part))
        case .exists(let collection, let test):
            return .exists(try self.collection(collection), try self.predicate(test))
        }
    }

    private func predicates(
        _ parts: [TypedPredicate]
    ) throws(LarderError) -> [BoundPredicate] {
        var bound: [BoundPredicate] = []
        for part in parts { bound.append(try predicate(part)) }
        return bound
    }

    /// Reports an invalid MATCHES pattern before any object is read.
    private func checkPattern(of predicate: BoundPredicate) throws(LarderError) {
        guard case .comparison(_, .matches, let pattern, let options) = predicate else { return }
        var text = ""
        if case .value(.string(let pattern)) = pattern { text = pattern }
        _ = try evaluator.matches("", text, options)
    }

    // MARK: Operands

    func operand(_ operand: TypedOperand) throws(LarderError) -> BoundOperand {
        switch operand {
        case .property(let path, _): return property(path)
        case .element(let element): return .slot(element.slot)
        case .value(let value): return .value(try typed(value))
        case .member(let member):
            return .member(
                member.path, of: try self.operand(member.document), try bound(member.kind))
        case .function(let function, let operands, _, _):
            var bound: [BoundOperand] = []
            for operand in operands {
                bound.append(try self.operand(operand))
                try checkInteger(operand, bound[bound.count - 1])
            }
            return .function(function, bound)
        case .converted(let operand, let type):
            guard case .attribute(let type) = type else { return try self.operand(operand) }
            return .converted(try self.operand(operand), type)
        case .predicate(let predicate): return .truth(try self.predicate(predicate))
        case .collection(let function, let collection, let element, _, _):
            var type: AttributeType?
            if case .attribute(let attribute) = element?.type { type = attribute }
            return .aggregate(
                function, try self.collection(collection),
                try element.map { element throws(LarderError) in try self.operand(element) }
                    ?? .slot(collection.parts[collection.parts.count - 1].slot), type)
        case .join(let join):
            return .join(
                try collection(join.collection), try self.operand(join.text),
                separator: try self.operand(join.separator), isOrdered: join.collection.isOrdered)
        case .aggregate:
            throw LarderError(
                .unsupported, "an aggregate over the objects of a query has no value for an object")
        }
    }

    private func operands(_ operands: [TypedOperand]) throws(LarderError) -> [BoundOperand] {
        var bound: [BoundOperand] = []
        for operand in operands { bound.append(try self.operand(operand)) }
        return bound
    }

    /// An operand of a function that computes with integers is none with a fraction.
    private func checkInteger(
        _ operand: TypedOperand, _ bound: BoundOperand
    ) throws(LarderError) {
        guard case .value(let value) = operand, value.type?.isInteger == true else { return }
        switch bound {
        case .value(.float), .value(.double), .value(.decimal):
            throw LarderError(
                .wrongType, "\(value.name) is an integer, and a number with a fraction was given",
                hint: "multiply by 1.0, as in 1.0 * …, to compute with fractions")
        default: break
        }
    }

    private func property(_ path: TypedKeyPath) -> BoundOperand {
        path.steps.reduce(.slot(path.base.slot)) { .step(step($1), of: $0) }
    }

    private func step(_ step: TypedStep) -> PropertyStep {
        let kind: PropertyStep.Kind =
            switch step.kind {
            case .attribute(let attribute): .attribute(attribute.type)
            case .relationship(let relationship): relationship.isToMany ? .toMany : .toOne
            case .cast(let entity): .cast(evaluator.schema.names(ofKind: entity))
            }
        return PropertyStep(name: step.name, kind: kind)
    }

    private func collection(
        _ collection: TypedCollection
    ) throws(LarderError) -> BoundCollection {
        var parts: [BoundCollection.Part] = []
        for part in collection.parts {
            parts.append(
                BoundCollection.Part(
                    base: .slot(part.path.base.slot), steps: part.path.steps.map(step),
                    array: part.array, slot: part.slot, excludesNil: part.excludesNil,
                    predicates: try predicates(part.predicates)))
        }
        return BoundCollection(parts: parts)
    }

    // MARK: Values

    private func typed(_ value: TypedValue) throws(LarderError) -> Value {
        try evaluator.conversion.typed(value, evaluator.parameters)
    }

    private func bound(_ kind: MemberKind) throws(LarderError) -> MemberKind {
        guard case .like(let values) = kind else { return kind }
        return try evaluator.conversion.kind(comparedWith: values, evaluator.parameters)
    }
}

extension Schema {
    /// The names of an entity and its subentities.
    fileprivate func names(ofKind entity: Entity) -> Set<String> {
        Set([entity.name] + subentities(of: entity.name).map(\.name))
    }
}
