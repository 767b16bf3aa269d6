import FoundationEssentials
import LarderModel

/// A node of a Swift predicate that can be translated, or throws the reason why it cannot.
protocol TranslatableExpression<Output>: PredicateExpression {
    associatedtype Output

    func term(in translation: inout Translation) throws(LarderError) -> Term<Output>
}

/// The translation of a node.
enum Term<Output> {
    /// A value that is known here: a literal, a captured variable, or a property of one.
    case captured(Output)
    /// An expression that the store computes for each object.
    case computed(QueryExpression)
}

/// The translation of one predicate from Swift's tree to the store's.
///
/// Parts that do not depend on an object are computed here if that cannot trap, so a captured
/// condition (`text.isEmpty || …`) is constant for the store. All other parts become the
/// expression. Nothing is filtered in memory.
struct Translation {
    /// The entity of the predicate.
    let entity: any QueryableEntity.Type
    private(set) var arguments: [QueryArgument] = []
    /// A `Term` of the variable's own type for each variable in scope.
    private var bindings: [PredicateExpressions.VariableID: Any] = [:]
    /// The key paths into documents, whose members have no type for the store.
    private var documentMembers: Set<QueryExpression> = []
    private var iteratorCount = 0
    private var depth = 0

    /// The maximum depth of Swift's tree, which has several levels for one of the store's.
    private static let depthMax = 512

    init(_ entity: any QueryableEntity.Type) { self.entity = entity }

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
                .unsupportedPredicate, "a store cannot evaluate \(Self.typeName(of: node))")
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

    /// The translation of the node as an operand of a comparison or a function.
    mutating func operand<Node: PredicateExpression>(
        _ node: Node
    ) throws(LarderError) -> QueryExpression {
        try operand(term(node))
    }

    /// The term as an operand of a comparison or a function.
    mutating func operand<Output>(_ term: Term<Output>) throws(LarderError) -> QueryExpression {
        switch term {
        case .computed(let expression): return expression
        case .captured(let captured):
            switch try Value(captured: captured, in: entity) {
            // The planner uses these three values, so they are constants and not arguments.
            case .null: return .constant(.null)
            case .bool(let bool): return .constant(.bool(bool))
            case let value: return argument(.value(value))
            }
        }
    }

    /// A path into a document that an attribute stores.
    mutating func documentMember(
        _ base: QueryExpression, _ steps: [String]
    ) -> QueryExpression {
        let member = QueryExpression.keyPath(base, steps)
        documentMembers.insert(member)
        return member
    }

    /// An expression as one of the type of a captured value: a member of a document as a number or
    /// as text.
    func typed<Output>(
        _ expression: QueryExpression, as term: Term<Output>
    ) throws(LarderError) -> QueryExpression {
        guard documentMembers.contains(expression), case .captured(let captured) = term else {
            return expression
        }
        return switch try Value(captured: captured, in: entity) {
        case .int, .float, .double, .decimal: .function(.add, [expression, .constant(.int(0))])
        case .string: .function(.concat, [expression, .constant(.string(""))])
        default: expression
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

    /// A new variable name for the elements of a collection.
    mutating func nextIterator() -> String {
        iteratorCount += 1
        return "e\(iteratorCount)"
    }

    /// The name of the node's type, without its type parameters.
    private static func typeName(of node: some PredicateExpression) -> String {
        String("\(type(of: node))".prefix { $0 != "<" })
    }
}

/// - Parameter part: The part of the predicate, in words.
func unsupported(_ part: String, hint: String? = nil) -> LarderError {
    LarderError(.unsupportedPredicate, "a store cannot evaluate \(part)", hint: hint)
}
