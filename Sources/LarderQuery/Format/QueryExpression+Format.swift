import LarderModel

// Formats trees as format strings. A tree that the parser built is formatted as a text that parses
// to an equal tree, given the arguments in order, with the fewest parentheses. Trees from other
// sources may contain forms that no format string has (an empty `and`, a list with a property);
// they are formatted for people. A constant without a literal form (a date, data) is formatted as
// text in quotation marks; it parses as a string, which is converted to the type it is compared
// with.

extension QueryExpression {
    /// The tree as a predicate format string.
    public var format: String { predicate(.or) }

    /// The binding strength of the outermost operator of a text.
    private enum Precedence: Int {
        case or, and, not, comparison, sum, product, signed, power, primary
    }

    private var precedence: Precedence {
        switch self {
        // A junction with one operand is that operand, one without operands is a constant.
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

    /// The text in a context that requires a predicate.
    private func predicate(_ least: Precedence) -> String {
        if case .constant(.bool(let value)) = self {
            return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        }
        return text(least)
    }

    /// The text, in parentheses if the surrounding operator binds more strongly.
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

    /// Operands of a call or elements of a list, separated by commas.
    private static func listed(_ expressions: some Sequence<QueryExpression>) -> String {
        expressions.map { $0.text(.or) }.joined(separator: ", ")
    }

    private static func text(
        _ function: ScalarFunction, _ operands: [QueryExpression]
    ) -> String {
        guard function.operandCount.contains(operands.count) else {
            return "\(function.name)(\(listed(operands)))"
        }
        switch function {
        case .add: return "\(operands[0].text(.sum)) + \(operands[1].text(.product))"
        case .subtract: return "\(operands[0].text(.sum)) - \(operands[1].text(.product))"
        case .multiply: return "\(operands[0].text(.product)) * \(operands[1].text(.signed))"
        case .divide: return "\(operands[0].text(.product)) / \(operands[1].text(.signed))"
        case .power: return "\(operands[0].text(.primary)) ** \(operands[1].text(.signed))"
        case .negate:
            // A minus sign directly before digits would be parsed as one literal.
            if case .constant = operands[0] { return "-(\(operands[0].bareText))" }
            return "-\(operands[0].text(.signed))"
        case .conditional:
            return "\(function.name)(\(operands[0].predicate(.or)), "
                + "\(listed(operands.dropFirst())))"
        default: return "\(function.name)(\(listed(operands)))"
        }
    }

    /// The operator precedes the last step, as in Core Data.
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
    /// The options in format strings: `[cd]`; empty without options.
    package var text: String {
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
        case .decimal: decimalLiteral?.hasPrefix("-") == true
        default: false
        }
    }

    /// The value as a literal; a value without a literal form is its text in quotation marks.
    fileprivate var format: String {
        switch self {
        case .null: "NULL"
        case .bool(let value): value ? "TRUE" : "FALSE"
        case .int: text
        case .float(let value) where value.isFinite: text
        case .double(let value) where value.isFinite: text
        case .decimal: decimalLiteral ?? Self.quoted(text)
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
