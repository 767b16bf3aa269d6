import LarderModel

/// Arithmetic of decimals, of any number of steps, in one call of an SQL function: the numbers
/// between two steps are never written as text and parsed again.
///
/// The first argument is the form: the functions in prefix notation, each as one character, and for
/// each of the other arguments, in their order, a point, or a colon if it is the same for all rows.
/// `larder_decimal('*+..:', a, b, ?)` is `(a + b) * ?`. `SQLWriter` writes forms; the depth of an
/// expression bounds their depth.
///
/// An object is a form with its constants, parsed once per run of a statement.
final class DecimalForm {
    /// `larder_decimal(form, …)`: the result; nil if an argument is nil, and if a step has no
    /// result.
    static let value = "larder_decimal"
    /// `larder_decimal_order(form, …)`, with a form of two numbers: -1, 0 or 1 if the first is
    /// less than, equal to or greater than the second; nil if one of them is nil.
    static let order = "larder_decimal_order"

    static let argument = "."
    static let constant = ":"

    private enum Symbol {
        case argument(index: Int)
        /// Nil for an argument that is nil.
        case constant(ExactDecimal?)
        case unary(ScalarFunction)
        case binary(ScalarFunction)
    }

    private let symbols: [Symbol]

    init(_ arguments: FunctionArguments) {
        var symbols: [Symbol] = []
        // The first argument is the form.
        var argumentIndex = 1
        for character in arguments[0].string {
            switch String(character) {
            case Self.argument:
                symbols.append(.argument(index: argumentIndex))
                argumentIndex += 1
            case Self.constant:
                symbols.append(.constant(DecimalFunctions.decimal(arguments[argumentIndex])))
                argumentIndex += 1
            default: if let step = Self.step(character) { symbols.append(step) }
            }
        }
        self.symbols = symbols
    }

    /// The functions read at most as much text as a decimal has, so their time needs no budget
    /// beyond SQLite's steps.
    static func register(on connection: Connection) throws(SQLiteError) {
        try connection.registerScalar(name: value, argumentCount: -1, isBounded: false) {
            arguments in
            let form = arguments.prepared(at: 0) { DecimalForm(arguments) }
            return form.number(arguments).map { .decimal($0) } ?? .null
        }
        try connection.registerScalar(name: order, argumentCount: -1, isBounded: false) {
            arguments in
            let form = arguments.prepared(at: 0) { DecimalForm(arguments) }
            return form.order(arguments).map { .integer($0) } ?? .null
        }
    }

    /// The result of the form.
    func number(_ arguments: FunctionArguments) -> ExactDecimal? {
        var index = 0
        return number(arguments, &index)
    }

    private func order(_ arguments: FunctionArguments) -> Int64? {
        var index = 0
        guard let left = number(arguments, &index), let right = number(arguments, &index) else {
            return nil
        }
        return left == right ? 0 : left < right ? -1 : 1
    }

    /// The number that begins at a symbol; nil if a step has no result, which is that of the whole
    /// form.
    private func number(_ arguments: FunctionArguments, _ index: inout Int) -> ExactDecimal? {
        guard index < symbols.count else { return nil }
        let symbol = symbols[index]
        index += 1
        let result: ExactDecimal?
        switch symbol {
        case .argument(let argument):
            guard argument < arguments.count else { return nil }
            return DecimalFunctions.decimal(arguments[argument])
        case .constant(let number): return number
        case .unary(let function):
            guard let operand = number(arguments, &index) else { return nil }
            result = function.value(of: operand)
        case .binary(let function):
            guard let left = number(arguments, &index), let right = number(arguments, &index)
            else { return nil }
            result = function.value(of: left, right)
        }
        guard let result, result.isDecimal else { return nil }
        return result
    }

    // MARK: Symbols

    private static func step(_ symbol: Character) -> Symbol? {
        switch symbol {
        case "+": .binary(.add)
        case "-": .binary(.subtract)
        case "*": .binary(.multiply)
        case "/": .binary(.divide)
        case "%": .binary(.modulus)
        case "n": .unary(.negate)
        case "a": .unary(.abs)
        case "f": .unary(.floor)
        case "c": .unary(.ceiling)
        case "r": .unary(.round)
        case "t": .unary(.trunc)
        default: nil
        }
    }

    /// The character of a function of one or two decimals; nil for other functions.
    static func symbol(of function: ScalarFunction) -> String? {
        switch function {
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        case .divide: "/"
        case .modulus: "%"
        case .negate: "n"
        case .abs: "a"
        case .floor: "f"
        case .ceiling: "c"
        case .round: "r"
        case .trunc: "t"
        default: nil
        }
    }
}
