// Trees as format strings. What a parser made prints as a text from which the same tree is made,
// given arguments that are taken in order. A tree from elsewhere may hold what no format string
// says (a date, an empty `and`); it prints as something that a person can read.

extension QueryExpression {
    /// The tree as a predicate format string.
    public var format: String {
        switch self {
        case .constant(.bool(let value)): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .and(let operands):
            operands.isEmpty
                ? "TRUEPREDICATE"
                : operands.map { $0.format(enclosedIf: $0.isJunction) }.joined(separator: " AND ")
        case .or(let operands):
            operands.isEmpty
                ? "FALSEPREDICATE"
                : operands.map { operand in
                    if case .or = operand { return "(\(operand.format))" }
                    return operand.format
                }.joined(separator: " OR ")
        case .not(let operand): "NOT \(operand.format(enclosedIf: operand.isJunction))"
        case .comparison(let comparison): comparison.format
        default: operandFormat
        }
    }

    private func format(enclosedIf isEnclosed: Bool) -> String {
        isEnclosed ? "(\(format))" : format
    }

    private var isJunction: Bool {
        switch self {
        case .and, .or: true
        default: false
        }
    }

    /// The tree as a side of a comparison.
    fileprivate var operandFormat: String {
        switch self {
        case .constant(let value): value.format
        case .argument: "%@"
        case .list(let elements):
            "{\(elements.map(\.operandFormat).joined(separator: ", "))}"
        case .object: "SELF"
        case .variable(let name): "$\(name)"
        case .keyPath(.object, let steps): Self.format(steps)
        case .keyPath(let base, let steps): "\(base.operandFormat).\(Self.format(steps))"
        case .collection(let function, let operand):
            "\(operand.operandFormat).@\(function.collectionOperator)"
        case .function(let function, let operands):
            "\(function.rawValue)(\(operands.map(\.operandFormat).joined(separator: ", ")))"
        case .subquery(let collection, let variable, let predicate):
            "SUBQUERY(\(collection.operandFormat), $\(variable), \(predicate.format))"
        case .comparison, .and, .or, .not: "(\(format))"
        }
    }

    private static func format(_ steps: [String]) -> String {
        steps.map { FormatKeyword($0) == nil ? $0 : "#\($0)" }.joined(separator: ".")
    }
}

extension Comparison {
    fileprivate var format: String {
        let prefix =
            switch modifier {
            case .direct: ""
            case .any: "ANY "
            case .all: "ALL "
            }
        var letters = ""
        if options.contains(.caseInsensitive) { letters += "c" }
        if options.contains(.diacriticInsensitive) { letters += "d" }
        let suffix = letters.isEmpty ? "" : "[\(letters)]"
        return
            "\(prefix)\(left.operandFormat) \(`operator`.rawValue)\(suffix) \(right.operandFormat)"
    }
}

extension Value {
    /// The value as a literal; what has none is its text in quotation marks.
    fileprivate var format: String {
        switch self {
        case .null: "NULL"
        case .bool(let value): value ? "TRUE" : "FALSE"
        case .int, .float, .double, .decimal: text
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
