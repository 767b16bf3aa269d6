import LarderModel

/// Reads the terms of one query in order, and parses format strings.
package struct ExpressionSource {
    private let parameters: QueryParameters
    /// The number of arguments that the format strings have used so far.
    package private(set) var argumentCount = 0
    package private(set) var dependsOnArguments = false
    /// The kinds of the arguments and variables whose values have decided types.
    package private(set) var decidingKinds: [TypedValue.Source: OperandKind] = [:]
    /// Whether a term was a tree, which refers to arguments by index.
    package private(set) var hasTree = false
    /// The number of nodes of the terms that were read.
    package private(set) var nodeCount = 0
    /// The positions of the expressions in each format string.
    package private(set) var sourceMaps: [FormatSourceMap] = []

    /// - Parameter sourceMaps: Those of the texts that trees come from.
    package init(_ parameters: QueryParameters, sourceMaps: [FormatSourceMap] = []) {
        self.parameters = parameters
        self.sourceMaps = sourceMaps
    }

    /// - Parameter name: The role of the predicate in the query, for messages.
    mutating func predicate(
        _ term: QueryTerm?, named name: String = "predicate"
    ) throws(LarderError) -> QueryExpression? {
        switch term {
        case nil: return nil
        case .tree(let tree): return try checked(tree)
        case .format(let text):
            return taken(
                try PredicateFormat.parse(
                    text, arguments: parameters.arguments, firstArgument: argumentCount,
                    name: name))
        }
    }

    /// An expression that has a value.
    mutating func value(
        _ term: QueryTerm, named name: String
    ) throws(LarderError) -> QueryExpression {
        switch term {
        case .tree(let tree): return try checked(tree)
        case .format(let text):
            return taken(
                try PredicateFormat.parseExpression(
                    text, arguments: parameters.arguments, firstArgument: argumentCount,
                    name: name))
        }
    }

    /// The kind of an argument or a variable by its value, which decides a type.
    mutating func decidingKind(of source: TypedValue.Source) -> OperandKind {
        let kind = parameters.kind(of: source)
        decidingKinds[source] = kind
        return kind
    }

    /// A text that is a key path.
    mutating func keyPath(_ text: String, named name: String) -> QueryExpression {
        taken(PredicateFormat.keyPath(text, name: name))
    }

    private mutating func taken(_ parsed: PredicateFormat.Parsed) -> QueryExpression {
        argumentCount += parsed.argumentsUsed
        if parsed.usesKeyPathArguments { dependsOnArguments = true }
        sourceMaps.append(parsed.sourceMap)
        nodeCount += parsed.sourceMap.count
        return parsed.expression
    }

    private mutating func checked(_ tree: QueryExpression) throws(LarderError) -> QueryExpression {
        hasTree = true
        nodeCount += try tree.checkLimits()
        return tree
    }
}

extension QueryParameters {
    /// The kind of an argument or a variable as an operand: that of a constant with its value. A
    /// text for a value of any type, a list and an object have no type of their own.
    package func kind(of source: TypedValue.Source) -> OperandKind {
        let given: QueryArgument? =
            switch source {
            case .argument(let index) where arguments.indices.contains(index): arguments[index]
            case .variable(let name): variables[name]
            default: nil
            }
        guard !argumentsAreText, case .value(let value)? = given else { return .argument }
        let type = value.attributeType
        return type != nil || value.isNull ? .constant(type) : .argument
    }
}
