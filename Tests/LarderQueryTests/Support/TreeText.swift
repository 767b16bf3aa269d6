import LarderModel

extension QueryExpression {
    /// The tree as an indented outline, one node per line, for scripts.
    var outline: String { outlineLines.joined(separator: "\n") }

    private var outlineLines: [String] {
        [label] + children.flatMap { $0.outlineLines.map { "  \($0)" } }
    }

    private var label: String {
        switch self {
        case .constant(let value): "constant \(value.shape) \(value.jsonValue.text)"
        case .argument(let place): "argument \(place)"
        case .list: "list"
        case .object: "object"
        case .variable(let name): "variable \(name)"
        case .keyPath(_, let steps): "keyPath \(steps.joined(separator: " / "))"
        case .collection(let collectionOperator, _): "collection \(collectionOperator)"
        case .subquery(_, let variable, _): "subquery \(variable)"
        case .comparison(let comparison):
            "comparison \(comparison.operator.rawValue)"
                + (comparison.options.contains(.caseInsensitive) ? " case-insensitive" : "")
                + (comparison.options.contains(.diacriticInsensitive)
                    ? " diacritic-insensitive" : "")
                + (comparison.options.contains(.normalized) ? " normalized" : "")
                + (comparison.modifier == .direct ? "" : " \(comparison.modifier)")
        case .function(let function, _): "function \(function)"
        case .typeTest(_, let entityName): "typeTest \(entityName)"
        case .and: "and"
        case .or: "or"
        case .not: "not"
        }
    }
}

extension Value {
    /// The name of the case. Only nil has no associated value.
    fileprivate var shape: String { Mirror(reflecting: self).children.first?.label ?? "null" }
}
