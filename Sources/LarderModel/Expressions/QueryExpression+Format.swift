// Trees as format strings. What a parser made prints as a text from which the same tree is made,
// given arguments that are taken in order, with as few parentheses as that takes. A tree from
// elsewhere may hold what no format string says (an empty `and`, a list with a property); it prints
// as something that a person can read. A constant that has no literal of its own (a date, a
// decimal, data) prints as text in quotation marks: it is read back as a string, which takes its
// type again from what it stands beside.

extension QueryExpression {
    /// The tree as a predicate format string.
    public var format: String { predicate(.or) }

    /// How closely the outermost operator of a text binds what stands around it.
    private enum Precedence: Int {
        case or, and, not, comparison, sum, product, signed, power, primary
    }

    private var precedence: Precedence {
        switch self {
        // A junction of one operand is that operand, and of none a constant.
        case .or(let operands):
            operands.count > 1 ? .or : operands.first?.precedence ?? .primary
        case .and(let operands):
            operands.count > 1 ? .and : operands.first?.precedence ?? .primary
        case .not: .not
        case .comparison, .typeTest: .comparison
        case .function(.add, _), .function(.subtract, _): .sum
        case .function(.multiply, _), .function(.divide, _): .product
        case .function(.negate, _): .signed
        case .function(.power, _): .power
        case .constant(let value): value.isNegative ? .signed : .primary
        default: .primary
        }
    }

    /// The text where something true or false is expected.
    private func predicate(_ least: Precedence) -> String {
        if case .constant(.bool(let value)) = self {
            return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        }
        return text(least)
    }

    /// The text, in parentheses if it binds less closely than what stands around it.
    private func text(_ least: Precedence) -> String {
        precedence.rawValue < least.rawValue ? "(\(bareText))" : bareText
    }

    private var bareText: String {
        switch self {
        case .constant(let value): value.format
        case .argument: "%@"
        case .list(let elements): "{\(Self.listed(elements))}"
        case .object: "SELF"
        case .variable(let name): "$\(name)"
        case .keyPath(let base, let steps): Self.text(base, steps)
        case .collection(let function, let operand): Self.text(function, of: operand)
        case .subquery(let collection, let variable, let predicate):
            "SUBQUERY(\(collection.text(.sum)), $\(variable), \(predicate.predicate(.or)))"
        case .function(let function, let operands): Self.text(function, operands)
        case .comparison(let comparison): Self.text(comparison)
        case .typeTest(let operand, let entityName):
            "\(operand.text(.sum)) IS \(Self.text([entityName]))"
        case .and(let operands):
            operands.isEmpty
                ? "TRUEPREDICATE"
                : operands.map { $0.predicate(operands.count > 1 ? .not : .or) }
                    .joined(separator: " AND ")
        case .or(let operands):
            operands.isEmpty
                ? "FALSEPREDICATE"
                : operands.map { $0.predicate(operands.count > 1 ? .and : .or) }
                    .joined(separator: " OR ")
        case .not(let operand): "NOT \(operand.predicate(.not))"
        }
    }

    /// Operands of a call and elements of a list, where commas keep apart what they hold.
    private static func listed(_ expressions: some Sequence<QueryExpression>) -> String {
        expressions.map { $0.text(.or) }.joined(separator: ", ")
    }

    private static func text(
        _ function: ScalarFunction, _ operands: [QueryExpression]
    ) -> String {
        guard function.operandCount.contains(operands.count) else {
            return "\(function.rawValue)(\(listed(operands)))"
        }
        switch function {
        case .add: return "\(operands[0].text(.sum)) + \(operands[1].text(.product))"
        case .subtract: return "\(operands[0].text(.sum)) - \(operands[1].text(.product))"
        case .multiply: return "\(operands[0].text(.product)) * \(operands[1].text(.signed))"
        case .divide: return "\(operands[0].text(.product)) / \(operands[1].text(.signed))"
        case .power: return "\(operands[0].text(.primary)) ** \(operands[1].text(.signed))"
        case .negate:
            // A minus and digits would be one literal.
            if case .constant = operands[0] { return "-(\(operands[0].bareText))" }
            return "-\(operands[0].text(.signed))"
        case .conditional:
            return "\(function.rawValue)(\(operands[0].predicate(.or)), "
                + "\(listed(operands.dropFirst())))"
        default: return "\(function.rawValue)(\(listed(operands)))"
        }
    }

    /// The operator stands as Core Data writes it, in front of the last step.
    private static func text(
        _ function: AggregateFunction, of operand: QueryExpression
    ) -> String {
        let name = "@\(function.collectionOperator)"
        guard function != .count, case .keyPath(let base, var steps) = operand,
            steps.count > 1 || base.isPath, let last = steps.popLast()
        else { return "\(operand.text(.primary)).\(name)" }
        let collection = steps.isEmpty ? base.text(.primary) : text(base, steps)
        return "\(collection).\(name).\(text([last]))"
    }

    private static func text(_ base: QueryExpression, _ steps: [String]) -> String {
        base == .object ? text(steps) : "\(base.text(.primary)).\(text(steps))"
    }

    private static func text(_ steps: [String]) -> String {
        steps.map { FormatKeyword($0) == nil ? $0 : "#\($0)" }.joined(separator: ".")
    }

    private static func text(_ comparison: Comparison) -> String {
        let prefix =
            switch comparison.modifier {
            case .direct: ""
            case .any: "ANY "
            case .all: "ALL "
            }
        let name = comparison.operator.rawValue + comparison.options.text
        return "\(prefix)\(comparison.left.text(.sum)) \(name) \(comparison.right.text(.sum))"
    }
}

extension Comparison.Options {
    /// As in format strings: `[cd]`; empty without options.
    public var text: String {
        var letters = ""
        if contains(.caseInsensitive) { letters += "c" }
        if contains(.diacriticInsensitive) { letters += "d" }
        if contains(.normalized) { letters += "n" }
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}

extension Value {
    fileprivate var isNegative: Bool {
        switch self {
        case .int, .float, .double: text.hasPrefix("-")
        default: false
        }
    }

    /// The value as a literal; what has none is its text in quotation marks.
    fileprivate var format: String {
        switch self {
        case .null: "NULL"
        case .bool(let value): value ? "TRUE" : "FALSE"
        case .int: text
        case .float(let value) where value.isFinite: text
        case .double(let value) where value.isFinite: text
        default: Self.quoted(text)
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case "\r": quoted += "\\r"
            case "\u{0}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
