import FoundationEssentials
import LarderModel

/// A node of a predicate of Swift's that can be asked of a store, or says why it cannot.
protocol TranslatableExpression<Output>: PredicateExpression {
    associatedtype Output

    func term(in translation: inout Translation) throws(LarderError) -> Term<Output>
}

/// What a node of a predicate comes to.
enum Term<Output> {
    /// A value that Swift knows already: a literal, a captured variable, or a property of one.
    case captured(Output)
    /// What the store has to compute for each object.
    case computed(QueryExpression)
}

/// The way of one predicate from Swift's tree into ours.
///
/// What does not depend on an object is computed here, as long as that cannot trap; so a captured
/// condition (`text.isEmpty || …`) is decided before the store is asked. Everything else becomes
/// part of the expression. Nothing is left to be filtered in memory.
struct Translation {
    private(set) var arguments: [QueryArgument] = []
    /// A `Term` of the variable's own type for each variable in scope.
    private var bindings: [PredicateExpressions.VariableID: Any] = [:]
    private var iteratorCount = 0
    private var depth = 0

    /// Levels of nodes; Swift's tree has several for one of ours.
    private static let depthMax = 512

    mutating func bind<Output>(
        _ variable: PredicateExpressions.Variable<Output>, to term: Term<Output>
    ) {
        bindings[variable.key] = term
    }

    func binding<Output>(of variable: PredicateExpressions.Variable<Output>) -> Term<Output>? {
        bindings[variable.key] as? Term<Output>
    }

    mutating func term<Node: PredicateExpression>(
        _ node: Node
    ) throws(LarderError) -> Term<Node.Output> {
        guard let node = node as? any TranslatableExpression<Node.Output> else {
            throw LarderError(
                .unsupportedPredicate, "a store cannot be asked \(Self.typeName(of: node))")
        }
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthMax else {
            throw LarderError(
                .resourceExhausted, "the predicate is nested more than \(Self.depthMax) levels deep"
            )
        }
        return try node.term(in: &self)
    }

    /// The node's term as a value to compare or to compute with.
    mutating func operand<Node: PredicateExpression>(
        _ node: Node
    ) throws(LarderError) -> QueryExpression {
        try operand(term(node))
    }

    /// The term as a value to compare or to compute with.
    mutating func operand<Output>(_ term: Term<Output>) throws(LarderError) -> QueryExpression {
        switch term {
        case .computed(let expression): return expression
        case .captured(let captured):
            switch try Value(captured: captured) {
            // Only three such values: not worth a place, and the planner likes to know them.
            case .null: return .constant(.null)
            case .bool(let bool): return .constant(.bool(bool))
            case let value: return argument(.value(value))
            }
        }
    }

    mutating func argument(_ argument: QueryArgument) -> QueryExpression {
        arguments.append(argument)
        return .argument(arguments.count - 1)
    }

    mutating func predicate<Node: PredicateExpression<Bool>>(
        _ node: Node
    ) throws(LarderError) -> QueryExpression {
        predicate(try term(node))
    }

    func predicate(_ term: Term<Bool>) -> QueryExpression {
        switch term {
        case .captured(let bool): .constant(.bool(bool))
        case .computed(let expression): expression.asPredicate
        }
    }

    /// A name for the elements of a collection, that no other one in this predicate has.
    mutating func nextIterator() -> String {
        iteratorCount += 1
        return "e\(iteratorCount)"
    }

    /// The node's name in Swift, without its type parameters.
    private static func typeName(of node: some PredicateExpression) -> String {
        String("\(type(of: node))".prefix { $0 != "<" })
    }
}

/// - Parameter subject: What is asked, in words, as the subject of a sentence.
func unsupported(_ subject: String, hint: String? = nil) -> LarderError {
    LarderError(.unsupportedPredicate, "\(subject) cannot be asked of a store", hint: hint)
}
