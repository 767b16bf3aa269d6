package import LarderModel
package import LarderQuery

/// Makes the tree of a predicate or an expression, and collects the values in it as arguments.
///
/// Objects become identifiers here and not when a predicate is made: an object that was saved since
/// then has another one.
package struct TermBuilder {
    package private(set) var arguments: [QueryArgument] = []
    /// The positions of the parts of the tree in the format strings, if they are recorded.
    package private(set) var sourceMaps: [FormatSourceMap] = []
    /// The parts of the format that is bound, with what they became; nil if they are not recorded.
    private var bound: [QueryExpression: QueryExpression]?
    /// The values of variables that no enclosing SUBQUERY declares.
    private var variables: [String: Any] = [:]
    /// Whether values become constants, for a text.
    private let isInline: Bool
    private var depth = 0

    /// - Parameters:
    ///   - isInline: Whether values are constants of the tree, and not arguments.
    ///   - recordsSources: Whether ``sourceMaps`` are needed.
    package init(isInline: Bool = false, recordsSources: Bool = false) {
        self.isInline = isInline
        bound = recordsSources ? [:] : nil
    }

    /// The tree of a value; an expression is its own tree.
    ///
    /// - Throws: `wrongType` for a value that no store has.
    package mutating func value(_ value: Any?) throws(LarderError) -> QueryExpression {
        if let expression = value as? NSExpression { return try tree(of: expression) }
        if isInline { return try constant(value) }
        let argument = try QueryArgument(of: value)
        switch argument {
        case .value(.null), .value(.bool): return try constant(value)
        case .value, .list:
            arguments.append(argument)
            return .argument(arguments.count - 1)
        }
    }

    /// The tree of a value that is a constant of the tree.
    ///
    /// - Throws: `wrongType` for a value that no store has.
    private func constant(_ value: Any?) throws(LarderError) -> QueryExpression {
        switch try QueryArgument(of: value) {
        case .value(let value): .constant(isInline ? value.withLiteral : value)
        case .list(let values):
            .list(values.map { .constant(isInline ? $0.withLiteral : $0) })
        }
    }

    /// The tree of an operand of a function. A constant is one of the tree, because an argument has
    /// no type that could be that of the function.
    mutating func operand(_ expression: NSExpression) throws(LarderError) -> QueryExpression {
        guard case .constant(let value) = expression.form else { return try tree(of: expression) }
        return try constant(value)
    }

    /// The tree of an expression.
    package mutating func tree(of expression: NSExpression) throws(LarderError) -> QueryExpression {
        try nested { (builder) throws(LarderError) in try expression.form.tree(&builder) }
    }

    /// The tree of a predicate.
    package mutating func tree(of predicate: NSPredicate) throws(LarderError) -> QueryExpression {
        try nested { (builder) throws(LarderError) in try predicate.form.tree(&builder) }
    }

    /// The tree of a predicate in which variables have values.
    mutating func tree(
        of predicate: NSPredicate, replacing values: [String: Any]
    ) throws(LarderError) -> QueryExpression {
        let outer = variables
        variables.merge(values) { inner, _ in inner }
        defer { variables = outer }
        return try tree(of: predicate)
    }

    /// A parsed tree with values in place of its arguments and variables.
    mutating func bind(_ format: ParsedFormat) throws(LarderError) -> QueryExpression {
        guard let outer = bound else {
            return try bind(format.expression, format.arguments, declared: [])
        }
        // An argument may have a format of its own.
        bound = [:]
        let tree = try bind(format.expression, format.arguments, declared: [])
        sourceMaps.append(format.sourceMap.replacing(bound ?? [:]))
        bound = outer
        return tree
    }

    /// - Parameter declared: The variables of the enclosing SUBQUERYs.
    mutating func bind(
        _ tree: QueryExpression, _ values: [Any?], declared: Set<String>
    ) throws(LarderError) -> QueryExpression {
        let new = try boundPart(tree, values, declared: declared)
        if bound != nil, bound?[tree] == nil { bound?[tree] = new }
        return new
    }

    private mutating func boundPart(
        _ tree: QueryExpression, _ values: [Any?], declared: Set<String>
    ) throws(LarderError) -> QueryExpression {
        switch tree {
        case .argument(let index): return try value(values[index])
        case .variable(let name) where !declared.contains(name): return try variable(name)
        case .keyPath(.variable(let name), let steps) where !declared.contains(name):
            guard let object = variables[name] as? any QueriedObject else { return tree }
            // A path of an object that is given has a value now.
            let path = BoundTerm(.keyPath(.object, steps))
            return try value(try object.value(of: path))
        case .subquery(let collection, let variable, let predicate):
            let collection = try bind(collection, values, declared: declared)
            return .subquery(
                collection, variable: variable,
                predicate: try bind(predicate, values, declared: declared.union([variable])))
        case .keyPath(_, let steps) where steps.last == "objectID":
            return try bind(tree.withoutObjectID, values, declared: declared)
        default:
            return try tree.mapChildren { (child) throws(LarderError) in
                try bind(child, values, declared: declared)
            }
        }
    }

    /// The value of a variable, or the variable itself if it has none.
    mutating func variable(_ name: String) throws(LarderError) -> QueryExpression {
        guard let value = variables[name] else { return .variable(name) }
        return try self.value(value)
    }

    /// The tree of a predicate in which a variable is that of a SUBQUERY.
    mutating func tree(
        of predicate: NSPredicate, declaring variable: String
    ) throws(LarderError) -> QueryExpression {
        let outer = variables
        variables[variable] = nil
        defer { variables = outer }
        return try tree(of: predicate)
    }

    private mutating func nested(
        _ body: (inout TermBuilder) throws(LarderError) -> QueryExpression
    ) throws(LarderError) -> QueryExpression {
        guard depth < Limits.expressionDepthMax else {
            throw LarderError(
                .resourceExhausted,
                "the predicate is nested more than \(Limits.expressionDepthMax) levels deep")
        }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }
}

extension TermBuilder {
    /// The aggregate and its operand if an expression is the call of one: `sum:(words)`, or
    /// `count:(SELF)` for the number of objects.
    package mutating func aggregate(
        _ expression: NSExpression
    ) throws(LarderError) -> (AggregateFunction, QueryExpression)? {
        if case .function(let name, let operands) = expression.form, operands.count == 1 {
            switch try FormatFunction.supported(name) {
            case .aggregate(let function), .either(_, let function):
                return (function, try tree(of: operands[0]))
            case .scalar, .unsupported: return nil
            }
        }
        guard case .parsed(let format) = expression.form,
            case .collection(let function, let operand) = format.expression
        else { return nil }
        return (function, try bind(operand, format.arguments, declared: []))
    }
}

extension Value {
    /// An equal number that a format has as a literal, for a number that it has not.
    fileprivate var withLiteral: Value {
        switch self {
        case .float(let float): return .double(Double(float))
        case .decimal:
            // The literal of such a number is that of an integer, or of a double.
            guard QueryExpression.constant(self).format.hasPrefix("\""),
                let double = Double(text)
            else { return self }
            return Int64(exactly: double).map { .int($0) } ?? .double(double)
        default: return self
        }
    }
}
