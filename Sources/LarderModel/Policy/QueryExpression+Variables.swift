extension QueryExpression {
    /// The tree with other expressions instead of the variables that no enclosing SUBQUERY
    /// declares.
    func replacingVariables(_ values: [String: QueryExpression]) -> QueryExpression {
        func replaced(_ expression: QueryExpression) -> QueryExpression {
            expression.replacingVariables(values)
        }
        switch self {
        case .constant, .argument, .object: return self
        case .variable(let name): return values[name] ?? self
        case .list(let elements): return .list(elements.map(replaced))
        case .keyPath(let base, let names): return .keyPath(replaced(base), names)
        case .collection(let function, let operand):
            return .collection(function, replaced(operand))
        case .subquery(let collection, let variable, let predicate):
            var inner = values
            inner[variable] = nil
            return .subquery(
                replaced(collection), variable: variable,
                predicate: predicate.replacingVariables(inner))
        case .function(let function, let operands):
            return .function(function, operands.map(replaced))
        case .comparison(var comparison):
            comparison.left = replaced(comparison.left)
            comparison.right = replaced(comparison.right)
            return .comparison(comparison)
        case .typeTest(let operand, let entityName):
            return .typeTest(replaced(operand), entityName: entityName)
        case .and(let parts): return .and(parts.map(replaced))
        case .or(let parts): return .or(parts.map(replaced))
        case .not(let part): return .not(replaced(part))
        }
    }

    /// Whether it has an object, or its URI, as a constant.
    package var namesObject: Bool {
        switch self {
        case .constant(.object), .constant(.objects): true
        case .constant(.string(let text)):
            (try? PersistentIdentifier(uriRepresentation: text)) != nil
        default: children.contains(where: \.namesObject)
        }
    }

    /// The names of the variables that no enclosing SUBQUERY declares.
    package var freeVariables: Set<String> {
        switch self {
        case .variable(let name): return [name]
        case .subquery(let collection, let variable, let predicate):
            return collection.freeVariables.union(predicate.freeVariables.subtracting([variable]))
        default: return children.reduce(into: []) { $0.formUnion($1.freeVariables) }
        }
    }
}
