import LarderModel

/// The elements of a to-many key path or a subquery: a clause of its own with one row per element.
struct ResolvedElements {
    let scope: ResolverScope
    let element: PlanOperand
    /// The row of an element that is an object; nil for attributes.
    let row: ResolverRow?
    /// The condition that limits the rows of the clause to the elements.
    var predicate = PlanPredicate.yes

    func collection(where further: PlanPredicate = .yes) -> PlanCollection {
        PlanCollection(sources: scope.sources, predicate: predicate.and(further))
    }
}

extension QueryResolver {
    /// Opens a clause for the objects, or the attributes, at the end of a collection.
    func elements(
        of expression: QueryExpression, in scope: ResolverScope
    ) throws(LarderError) -> ResolvedElements {
        try locating(expression) { () throws(LarderError) in
            try resolvedElements(of: expression, in: scope)
        }
    }

    private func resolvedElements(
        of expression: QueryExpression, in scope: ResolverScope
    ) throws(LarderError) -> ResolvedElements {
        switch expression {
        case .keyPath(let base, let names) where base.isSubquery:
            let objects = try objects(of: base, in: scope)
            guard let row = objects.row else { preconditionFailure("objects have rows") }
            var elements = try elements(
                of: try keyPath(names, from: row), from: row, in: objects.scope)
            elements.predicate = objects.predicate
            return elements
        case .keyPath(let base, let names):
            let path = try keyPath(base, names, in: scope)
            guard path.isToMany else {
                throw LarderError(
                    .wrongType,
                    "\(path.name) is \(path.type.nounWithArticle), not a to-many relationship")
            }
            return try elements(of: path, in: scope)
        case .subquery(let collection, let variable, let predicate):
            var elements = try objects(of: collection, in: scope)
            guard let row = elements.row else {
                preconditionFailure("objects have rows")
            }
            // The clause may serve an enclosing SUBQUERY too, which has a variable of its own.
            let clause = elements.scope
            let hidden = clause.bind(variable, to: row)
            // After an error too: a clause and the row of its variable retain each other.
            defer { clause.bind(variable, to: hidden) }
            let resolved = try self.predicate(predicate, in: clause)
            elements.predicate = elements.predicate.and(resolved)
            return elements
        default:
            throw LarderError(.wrongType, "expected a to-many key path or a SUBQUERY")
        }
    }

    /// Opens a clause for a collection of objects.
    private func objects(
        of expression: QueryExpression, in scope: ResolverScope
    ) throws(LarderError) -> ResolvedElements {
        let elements = try elements(of: expression, in: scope)
        guard elements.row != nil else {
            throw LarderError(
                .wrongType, "\(elements.element.name) is an attribute; expected objects")
        }
        return existing(elements)
    }

    /// Excludes nil, to which to-one steps at the end of a key path may lead.
    func existing(_ elements: ResolvedElements) -> ResolvedElements {
        guard elements.row?.isOptional == true else { return elements }
        var present = elements
        present.predicate = present.predicate.and(.not(Self.isNil(elements.element)))
        return present
    }

    func elements(
        of path: ResolvedKeyPath, in outer: ResolverScope
    ) throws(LarderError) -> ResolvedElements {
        try elements(of: path, from: path.base, in: ResolverScope(outer: outer))
    }

    /// The predicate in a clause that has been opened.
    private func elements(
        of path: ResolvedKeyPath, from base: ResolverRow, in scope: ResolverScope
    ) throws(LarderError) -> ResolvedElements {
        let end = path.steps.lastIndex(where: \.isToMany).map { $0 + 1 } ?? 0
        var row = base
        for step in path.steps[..<end] {
            if case .relationship(let relationship) = step.kind, relationship.isToMany {
                row = try elements(of: relationship, from: row, in: scope)
            } else {
                row = try destination(of: [step], from: row)
            }
        }
        let rest = path.steps[end...]
        let element = try column(rest, from: row, path)
        guard case .object = path.type else {
            return ResolvedElements(scope: scope, element: element, row: nil)
        }
        row = try destination(of: rest, from: row)
        return ResolvedElements(scope: scope, element: element, row: row)
    }

    // MARK: Values of collections

    /// Key paths with a collection operator, for example `articles.@sum.wordCount`.
    func collection(
        _ function: AggregateFunction, _ expression: QueryExpression, in scope: ResolverScope
    ) throws(LarderError) -> PlanOperand {
        var elements: ResolvedElements
        do throws(LarderError) {
            elements = try self.elements(of: expression, in: scope)
        } catch {
            throw error.hinting(atAggregateOf: expression)
        }
        if case .keyPath = expression { elements = existing(elements) }
        let name = "\(elements.element.name).@\(function.collectionOperator)"
        if function == .count {
            if elements.row == nil, elements.element.isNullable {
                elements.predicate = elements.predicate.and(.not(Self.isNil(elements.element)))
            }
            return .count(elements.collection(), name: name)
        }
        let (element, type) = try Self.aggregated(elements.element, by: function)
        return .collection(function, elements.collection(), element, type, name: name)
    }

    private static func isNil(_ operand: PlanOperand) -> PlanPredicate {
        .comparison(operand, .equal, .value(.null(named: operand.name)), options: [])
    }

    /// The argument of an aggregate function for an operand, and its result type. Throws if the
    /// function is not defined for the operand's type.
    static func aggregated(
        _ operand: PlanOperand, by function: AggregateFunction
    ) throws(LarderError) -> (operand: PlanOperand, type: OperandType) {
        var operand = operand
        if function == .count || function == .countDistinct { return (operand, .int64) }
        if case .member(var member) = operand, function.needsNumbers {
            member.kind = .attribute(.double)
            operand = .member(member)
        }
        guard let type = operand.type else {
            throw LarderError(
                .wrongType, "\(function.rawValue) of an argument alone has no known type")
        }
        return (operand, try function.resultType(of: type, named: operand.name))
    }
}
