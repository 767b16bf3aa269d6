import LarderModel

/// Takes the predicates of one query in order, and turns format strings into trees.
struct ExpressionSource {
    private let parameters: QueryParameters
    /// How many arguments the format strings have taken so far.
    private(set) var argumentCount = 0
    private(set) var dependsOnArguments = false
    /// Whether a predicate came as a tree, which names its arguments by place.
    private(set) var hasTree = false
    /// Where the trees' parts stand, a list for each format string.
    private(set) var places: [FormatPlaces] = []

    init(_ parameters: QueryParameters) { self.parameters = parameters }

    /// - Parameter name: What the predicate is in the query, for sentences.
    mutating func expression(
        _ predicate: QueryPredicate?, name: String = "predicate"
    ) throws(LarderError) -> QueryExpression? {
        switch predicate {
        case nil: return nil
        case .tree(let tree):
            hasTree = true
            return tree
        case .format(let text):
            let parsed = try PredicateFormat.parse(
                text, arguments: parameters.arguments, firstArgument: argumentCount, name: name)
            argumentCount += parsed.argumentsUsed
            if parsed.usesKeyPathArguments { dependsOnArguments = true }
            places.append(parsed.places)
            return parsed.expression
        }
    }
}
