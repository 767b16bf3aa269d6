import LarderModel

extension QueryExpression {
    /// The tree with other expressions instead of the variables that no enclosing SUBQUERY
    /// declares.
    func replacingVariables(_ values: [String: QueryExpression]) -> QueryExpression {
        switch self {
        case .variable(let name): return values[name] ?? self
        case .subquery(let collection, let variable, let predicate):
            var inner = values
            inner[variable] = nil
            return .subquery(
                collection.replacingVariables(values), variable: variable,
                predicate: predicate.replacingVariables(inner))
        default: return mapChildren { $0.replacingVariables(values) }
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
