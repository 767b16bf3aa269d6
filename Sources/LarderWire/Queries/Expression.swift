internal import CLarderProto
internal import LarderModel
internal import LarderQuery

/// Encodes a tree as an array of nodes, operands first. Constants become arguments.
struct ExpressionFlattener {
    let writer: ProtobufWriter
    /// The arguments; each constant is appended.
    private(set) var arguments: [QueryArgument]
    private var nodes: [UnsafeMutablePointer<Larder__V1__Node>] = []

    init(writer: ProtobufWriter, arguments: [QueryArgument]) {
        self.writer = writer
        self.arguments = arguments
    }

    mutating func flatten(
        _ tree: QueryExpression
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__Expression> {
        nodes = []
        _ = try append(tree, depth: 1)
        let wire = writer.make(larder__v1__expression__init)
        wire.pointee.n_nodes = nodes.count
        wire.pointee.nodes = try writer.list(nodes) { $0 }
        return wire
    }

    /// Appends the nodes of a tree, to a depth of `Limits.expressionDepthMax`.
    ///
    /// - Returns: the index of the root.
    private mutating func append(
        _ tree: QueryExpression, depth: Int
    ) throws(LarderError) -> UInt32 {
        guard depth <= Limits.expressionDepthMax else { throw ExpressionLimits.tooDeep }
        let operandDepth = depth + 1
        switch tree {
        case .constant(let value):
            return try append(lifted: .value(value))
        case .argument(let index):
            return try append(argument: index)
        case .list(let elements):
            return try append(LARDER__V1__NODE_KIND__NODE_KIND_LIST, all: elements, operandDepth)
        case .object:
            return try append(LARDER__V1__NODE_KIND__NODE_KIND_OBJECT, [])
        case .variable(let name):
            return try append(LARDER__V1__NODE_KIND__NODE_KIND_VARIABLE, [], names: [name])
        case .keyPath(let base, let steps):
            let operand = try append(base, depth: operandDepth)
            return try append(LARDER__V1__NODE_KIND__NODE_KIND_KEY_PATH, [operand], names: steps)
        case .collection(let function, let collection):
            let operand = try append(collection, depth: operandDepth)
            let index = try append(LARDER__V1__NODE_KIND__NODE_KIND_COLLECTION, [operand])
            nodes[Int(index)].pointee.aggregate = function.wireFunction
            return index
        case .subquery(let collection, let variable, let predicate):
            return try append(
                LARDER__V1__NODE_KIND__NODE_KIND_SUBQUERY, all: [collection, predicate],
                operandDepth,
                names: [variable])
        case .function(let function, let operands):
            let index = try append(
                LARDER__V1__NODE_KIND__NODE_KIND_FUNCTION, all: operands, operandDepth)
            nodes[Int(index)].pointee.function = function.wireFunction
            return index
        case .comparison(let comparison):
            return try append(comparison, operandDepth)
        case .typeTest(let operand, let entityName):
            return try append(
                LARDER__V1__NODE_KIND__NODE_KIND_TYPE_TEST, all: [operand], operandDepth,
                names: [entityName])
        case .and(let operands):
            return try append(LARDER__V1__NODE_KIND__NODE_KIND_AND, all: operands, operandDepth)
        case .or(let operands):
            return try append(LARDER__V1__NODE_KIND__NODE_KIND_OR, all: operands, operandDepth)
        case .not(let operand):
            return try append(LARDER__V1__NODE_KIND__NODE_KIND_NOT, all: [operand], operandDepth)
        }
    }

    private mutating func append(lifted argument: QueryArgument) throws(LarderError) -> UInt32 {
        arguments.append(argument)
        return try append(argument: arguments.count - 1)
    }

    private mutating func append(argument position: Int) throws(LarderError) -> UInt32 {
        guard 0..<Limits.argumentsMax ~= position else {
            throw .tooMany("arguments", position.addingClamped(1), maximum: Limits.argumentsMax)
        }
        let index = try append(LARDER__V1__NODE_KIND__NODE_KIND_ARGUMENT, [])
        // The position fits: it was checked above.
        nodes[Int(index)].pointee.argument = UInt32(position)
        return index
    }

    private mutating func append(
        _ comparison: Comparison, _ operandDepth: Int
    ) throws(LarderError) -> UInt32 {
        let left = try append(comparison.left, depth: operandDepth)
        let right =
            if let values = comparison.listedConstants {
                try append(lifted: .list(values))
            } else {
                try append(comparison.right, depth: operandDepth)
            }
        let index = try append(LARDER__V1__NODE_KIND__NODE_KIND_COMPARISON, [left, right])
        let node = nodes[Int(index)]
        node.pointee.operator_ = comparison.operator.wireOperator
        node.pointee.options = comparison.options.rawValue
        node.pointee.modifier = comparison.modifier.wireModifier
        return index
    }

    private mutating func append(
        _ kind: Larder__V1__NodeKind, all operands: [QueryExpression], _ depth: Int,
        names: [String] = []
    ) throws(LarderError) -> UInt32 {
        var indices: [UInt32] = []
        for operand in operands { indices.append(try append(operand, depth: depth)) }
        return try append(kind, indices, names: names)
    }

    private mutating func append(
        _ kind: Larder__V1__NodeKind, _ operands: [UInt32], names: [String] = []
    ) throws(LarderError) -> UInt32 {
        guard nodes.count < Limits.expressionNodesMax else { throw ExpressionLimits.tooLarge }
        let node = writer.make(larder__v1__node__init)
        node.pointee.kind = kind
        node.pointee.n_operands = operands.count
        node.pointee.operands = writer.copy(numbers: operands)
        node.pointee.n_names = names.count
        node.pointee.names = writer.texts(names)
        nodes.append(node)
        // The number of nodes fits: it has a maximum.
        return UInt32(nodes.count - 1)
    }
}

/// Decodes an array of nodes into a tree. Rejects arrays that are not a tree.
struct ExpressionBuilder {
    /// The trees of the decoded nodes, and their depths; nil after another node has used one.
    private var trees: [(tree: QueryExpression, depth: Int)?] = []

    static func build(_ wire: Larder__V1__Expression) throws(LarderError) -> QueryExpression {
        guard wire.n_nodes <= Limits.expressionNodesMax else { throw ExpressionLimits.tooLarge }
        var builder = ExpressionBuilder()
        builder.trees.reserveCapacity(wire.n_nodes)
        for index in 0..<wire.n_nodes {
            guard let node = wire.nodes[index] else {
                throw .malformed("a node of the expression is missing")
            }
            try builder.append(node.pointee)
        }
        guard let root = builder.trees.popLast() ?? nil else {
            throw .malformed("the expression has no nodes")
        }
        guard builder.trees.allSatisfy({ $0 == nil }) else {
            throw .malformed("a node of the expression is the operand of no other node")
        }
        return root.tree
    }

    private mutating func append(_ node: Larder__V1__Node) throws(LarderError) {
        var depth = 1
        var operands: [QueryExpression] = []
        for number in ProtobufReader.numbers(node.operands, node.n_operands) as [UInt32] {
            guard Int(number) < trees.count, let operand = trees[Int(number)] else {
                throw .malformed(
                    "node \(trees.count) of the expression has the operand \(number), which "
                        + "does not precede it or is used already")
            }
            trees[Int(number)] = nil
            operands.append(operand.tree)
            depth = max(depth, operand.depth + 1)
        }
        guard depth <= Limits.expressionDepthMax else { throw ExpressionLimits.tooDeep }
        trees.append((try tree(node, operands), depth))
    }

    private func tree(
        _ node: Larder__V1__Node, _ operands: [QueryExpression]
    ) throws(LarderError) -> QueryExpression {
        switch node.kind {
        case LARDER__V1__NODE_KIND__NODE_KIND_LIST: return .list(operands)
        case LARDER__V1__NODE_KIND__NODE_KIND_AND: return .and(operands)
        case LARDER__V1__NODE_KIND__NODE_KIND_OR: return .or(operands)
        case LARDER__V1__NODE_KIND__NODE_KIND_ARGUMENT:
            try check(operands, 0)
            guard node.argument < UInt32(Limits.argumentsMax) else {
                throw .tooMany(
                    "arguments", Int(node.argument) + 1, maximum: Limits.argumentsMax)
            }
            return .argument(Int(node.argument))
        case LARDER__V1__NODE_KIND__NODE_KIND_OBJECT:
            try check(operands, 0)
            return .object
        case LARDER__V1__NODE_KIND__NODE_KIND_VARIABLE:
            try check(operands, 0)
            return .variable(try variable(node))
        case LARDER__V1__NODE_KIND__NODE_KIND_KEY_PATH:
            try check(operands, 1)
            return .keyPath(operands[0], try steps(node))
        case LARDER__V1__NODE_KIND__NODE_KIND_COLLECTION:
            try check(operands, 1)
            return .collection(try AggregateFunction(node.aggregate), operands[0])
        case LARDER__V1__NODE_KIND__NODE_KIND_FUNCTION:
            let function = try ScalarFunction(node.function)
            try check(operands, function.operandCount)
            return .function(function, operands)
        case LARDER__V1__NODE_KIND__NODE_KIND_SUBQUERY:
            try check(operands, 2)
            return .subquery(operands[0], variable: try variable(node), predicate: operands[1])
        case LARDER__V1__NODE_KIND__NODE_KIND_COMPARISON:
            try check(operands, 2)
            return .comparison(try comparison(node, operands[0], operands[1]))
        case LARDER__V1__NODE_KIND__NODE_KIND_TYPE_TEST:
            try check(operands, 1)
            guard node.n_names == 1 else {
                throw .malformed("a type test must have one name, that of an entity")
            }
            return .typeTest(
                operands[0], entityName: try node.names[0].name("the entity of a type test"))
        case LARDER__V1__NODE_KIND__NODE_KIND_NOT:
            try check(operands, 1)
            return .not(operands[0])
        default:
            throw .malformed("a node of the expression has no known kind")
        }
    }

    private func check(_ operands: [QueryExpression], _ count: Int) throws(LarderError) {
        try check(operands, count...count)
    }

    private func check(
        _ operands: [QueryExpression], _ counts: ClosedRange<Int>
    ) throws(LarderError) {
        guard counts.contains(operands.count) else {
            let wanted =
                counts.count == 1
                ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
            throw .malformed(
                "node \(trees.count) of the expression has \(operands.count) operands; "
                    + "it must have \(wanted)")
        }
    }

    private func variable(_ node: Larder__V1__Node) throws(LarderError) -> String {
        guard node.n_names == 1 else {
            throw .malformed("a variable of the expression has no name")
        }
        return try node.names[0].name("the name of a variable")
    }

    private func steps(_ node: Larder__V1__Node) throws(LarderError) -> [String] {
        let steps = try ProtobufReader.texts(
            node.names, node.n_names, "steps of a key path", maximum: Limits.keyPathStepsMax,
            bytesMax: Limits.nameBytesMax)
        guard !steps.isEmpty, !steps.contains("") else {
            throw .malformed("the key path has no steps, or an empty step")
        }
        return steps
    }

    private func comparison(
        _ node: Larder__V1__Node, _ left: QueryExpression, _ right: QueryExpression
    ) throws(LarderError) -> Comparison {
        let operators = Comparison.Operator.allCases
        guard let `operator` = operators.first(where: { $0.wireOperator == node.operator_ }) else {
            throw .malformed("the comparison has no known operator")
        }
        let modifiers = Comparison.Modifier.allCases
        guard let modifier = modifiers.first(where: { $0.wireModifier == node.modifier }) else {
            throw .malformed("the comparison has an unknown modifier")
        }
        let options = Comparison.Options(rawValue: node.options)
        guard
            options == .normalized
                || options.isSubset(of: [.caseInsensitive, .diacriticInsensitive])
        else {
            throw .malformed("the comparison has unknown options")
        }
        return Comparison(left, `operator`, right, options: options, modifier: modifier)
    }
}

enum ExpressionLimits {
    static let tooDeep = LarderError(
        .resourceExhausted,
        "the predicate is nested more than \(Limits.expressionDepthMax) levels deep")
    static let tooLarge = LarderError(
        .resourceExhausted, "the predicate has more than \(Limits.expressionNodesMax) nodes",
        hint: "pass many values as one argument that is a list")
}

extension Comparison {
    /// The right side of IN if all its elements are constants. They are sent as one argument, so
    /// that lists of other lengths use the same plan.
    fileprivate var listedConstants: [Value]? {
        guard `operator` == .in, case .list(let elements) = right else { return nil }
        var values: [Value] = []
        for element in elements {
            guard case .constant(let value) = element else { return nil }
            values.append(value)
        }
        return values
    }
}
