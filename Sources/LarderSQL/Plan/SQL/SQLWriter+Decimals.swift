import LarderModel

// Arithmetic of decimals is one call of a function: see `DecimalArithmetic`.

extension SQLWriter {
    /// A call of a function that takes a form and its arguments.
    mutating func decimalCall(
        _ name: String, _ operands: [PlanOperand]
    ) throws(LarderError) -> SQL {
        try dialect.refuse("arithmetic of decimals")
        var form = DecimalCall()
        for operand in operands { form.append(operand, isPart: true) }
        var arguments: [SQL] = []
        for argument in form.arguments { arguments.append(try self.argument(argument)) }
        let list = arguments.joined(separator: ", ")
        var call: SQL = "\(function: name)(\(literal: form.symbols), \(list))"
        call.depth += 2
        return call
    }

    /// The order of two decimals as a number to compare with 0; nil unless one of them is computed,
    /// because only the collation of texts finds a column by an index.
    mutating func decimalOrder(
        _ left: PlanOperand, _ right: PlanOperand
    ) throws(LarderError) -> SQL? {
        guard left.isDecimalArithmetic || right.isDecimalArithmetic,
            left.isExactDecimal, right.isExactDecimal
        else { return nil }
        return try decimalCall(DecimalArithmetic.order, [left, right])
    }
}

/// A form with its arguments, while it is written.
private struct DecimalCall {
    private(set) var symbols = ""
    private(set) var arguments: [PlanOperand] = []

    /// SQLite passes 127 arguments at most. An operand that would need more becomes a call of its
    /// own. Each level of an expression may have one more operand that follows.
    private static let argumentsMax = 60

    mutating func append(_ operand: PlanOperand, isPart: Bool = false) {
        if let symbol = operand.decimalSymbol,
            isPart || arguments.count + operand.decimalArgumentCount <= Self.argumentsMax
        {
            symbols += symbol
            for operand in operand.operands { append(operand) }
        } else {
            var argument = operand
            // The function reads integers too.
            if case .converted(let integer, _) = operand { argument = integer }
            if case .value = argument {
                symbols += DecimalArithmetic.constant
            } else {
                symbols += DecimalArithmetic.argument
            }
            arguments.append(argument)
        }
    }
}

extension PlanOperand {
    var isDecimalArithmetic: Bool { decimalSymbol != nil }

    /// The character of its function in a form; nil unless it is arithmetic of decimals.
    fileprivate var decimalSymbol: String? {
        guard case .function(let function, let operands, .attribute(.decimal), _) = self,
            operands.count <= 2, function != .round || operands.count == 1
        else { return nil }
        return DecimalArithmetic.symbol(of: function)
    }

    fileprivate var decimalArgumentCount: Int {
        isDecimalArithmetic ? operands.map(\.decimalArgumentCount).reduce(0, +) : 1
    }

    /// Whether it is a decimal for every row. A member of a JSON document may be any number.
    fileprivate var isExactDecimal: Bool {
        if case .member = self { false } else { type == .attribute(.decimal) }
    }
}
