import LarderModel

/// Writes a resolved query as SQL, for parameters like the given ones.
///
/// SQL knows a third truth value and Swift does not. Here every predicate is written in one of two
/// forms: as it is, so that SQL's true means true and both false and unknown mean false; or
/// negated, so that SQL's true means that the predicate is not true. Negation is pushed down to the
/// single comparisons, where nil is dealt with; what stays positive stays usable by indexes.
///
/// - `SQLWriter+Predicate.swift` and `…+Comparison.swift` write predicates,
/// - `SQLWriter+Operand.swift` and `…+Function.swift` write operands,
/// - `SQLWriter+Query.swift` and `…+Groups.swift` write clauses and statements.
struct SQLWriter {
    let parameters: QueryParameters
    let converter: ValueConverter
    /// Whether what is written next is a condition of the whole statement, and no other condition
    /// picks out few rows: see ``keyList(_:)``.
    var prefersKeyList = false
    /// Whether groups are left to SQLite, which sorts.
    let sortsGroups: Bool
    /// While clauses over groups are written: the place of what each group has.
    var groupPlaces: [PlanOperand: Int] = [:]
    private(set) var conditions: [(question: ParameterQuestion, answer: Bool)] = []

    init(
        _ parameters: QueryParameters, _ converter: ValueConverter, sortsGroups: Bool = false
    ) {
        self.parameters = parameters
        self.converter = converter
        self.sortsGroups = sortsGroups
    }

    /// Asks the parameters, and remembers that the text depends on the answer.
    mutating func ask(_ question: ParameterQuestion) throws(LarderError) -> Bool {
        if let known = conditions.first(where: { $0.question == question }) { return known.answer }
        let answer = try question.answer(parameters, converter)
        if question.isOpen { conditions.append((question, answer)) }
        return answer
    }

    mutating func isNil(_ operand: PlanOperand) throws(LarderError) -> Bool {
        guard case .value(let value) = operand else { return false }
        return try ask(.isNil(value))
    }

    mutating func isAnyNil(_ operands: [PlanOperand]) throws(LarderError) -> Bool {
        for operand in operands where try isNil(operand) { return true }
        return false
    }
}

extension ParameterQuestion {
    /// Whether other parameters may give another answer.
    fileprivate var isOpen: Bool {
        switch self {
        case .isNil(let value), .isInteger(let value, _), .hasElements(let value, _),
            .hasNil(let value), .isRead(let value, _):
            value.isArgument
        case .holds(let comparison): comparison.left.isArgument || comparison.right.isArgument
        case .hasLimit, .hasOffset, .hasPlace: true
        }
    }
}

extension PlanValue {
    /// Whether the parameters bring it.
    var isArgument: Bool {
        switch source {
        case .argument, .variable, .place: true
        case .constant: false
        }
    }
}

/// A part of a statement, with what stands for each of its `?`.
struct SQLFragment {
    var text: String
    var parameters: [SQLParameter] = []
    /// How deep its parentheses are nested.
    var depth = 0
    /// Whether a collation other than BINARY stands within it: SQLite gives it to the whole.
    private(set) var hasCollation = false
    /// What connects its parts, if it is not one part as it stands.
    var junction: Junction?

    enum Junction: String {
        case and = " AND "
        case or = " OR "
    }

    init(_ text: String, _ parameters: [SQLParameter] = [], depth: Int = 0) {
        self.text = text
        self.parameters = parameters
        self.depth = depth
    }

    static func + (left: SQLFragment, right: SQLFragment) -> SQLFragment {
        var result = SQLFragment(left.text, left.parameters, depth: left.depth)
        result.hasCollation = left.hasCollation
        result += right
        return result
    }

    static func + (left: SQLFragment, right: String) -> SQLFragment {
        var result = left
        result.text += right
        return result
    }

    static func + (left: String, right: SQLFragment) -> SQLFragment {
        SQLFragment(left) + right
    }

    static func += (left: inout SQLFragment, right: SQLFragment) {
        left.text += right.text
        left.parameters += right.parameters
        left.depth = max(left.depth, right.depth)
        left.hasCollation = left.hasCollation || right.hasCollation
    }

    static func += (left: inout SQLFragment, right: String) { left.text += right }

    var inParentheses: SQLFragment {
        var result = SQLFragment("(\(text))", parameters, depth: depth + 1)
        result.hasCollation = hasCollation
        return result
    }

    func collated(_ collation: String) -> SQLFragment {
        var result = self + " COLLATE \(collation)"
        result.hasCollation = true
        return result
    }

    /// In the order of bytes, whatever stands within it.
    var inOrderOfBytes: SQLFragment {
        guard hasCollation else { return self }
        var result = self + " COLLATE BINARY"
        result.hasCollation = false
        return result
    }

    /// As it may stand beside others that AND connects.
    var asConjunct: SQLFragment { junction == .or ? inParentheses : self }
}

extension Sequence<SQLFragment> {
    func joined(separator: String) -> SQLFragment {
        var result = SQLFragment("")
        var isFirst = true
        for fragment in self {
            if !isFirst { result += separator }
            result += fragment
            isFirst = false
        }
        return result
    }
}
