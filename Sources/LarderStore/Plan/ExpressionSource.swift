import LarderModel

/// Takes the terms of one query in order, and turns format strings into trees.
struct ExpressionSource {
    private let parameters: QueryParameters
    /// How many arguments the format strings have taken so far.
    private(set) var argumentCount = 0
    private(set) var dependsOnArguments = false
    /// Whether a term came as a tree, which names its arguments by place.
    private(set) var hasTree = false

    init(_ parameters: QueryParameters) { self.parameters = parameters }

    mutating func predicate(_ term: QueryTerm?) throws(LarderError) -> QueryExpression? {
        switch term {
        case nil: return nil
        case .tree(let tree): return try checked(tree)
        case .format(let text):
            let parsed = try PredicateFormat.parse(
                text, arguments: parameters.arguments, firstArgument: argumentCount)
            argumentCount += parsed.argumentsUsed
            if parsed.usesKeyPathArguments { dependsOnArguments = true }
            return parsed.expression
        }
    }

    /// An expression that has a value, a key path above all.
    mutating func value(_ term: QueryTerm) throws(LarderError) -> QueryExpression {
        switch term {
        case .tree(let tree): return try checked(tree)
        case .format(let text):
            guard text.utf8.count <= Limits.keyPathStepsMax * (Limits.nameBytesMax + 1) else {
                throw LarderError(
                    .resourceExhausted, "a key path has 1 to \(Limits.keyPathStepsMax) steps")
            }
            let names = text.split(separator: ".", omittingEmptySubsequences: false)
            return .keyPath(.object, names.map(String.init))
        }
    }

    private mutating func checked(_ tree: QueryExpression) throws(LarderError) -> QueryExpression {
        hasTree = true
        try tree.checkLimits()
        return tree
    }
}
