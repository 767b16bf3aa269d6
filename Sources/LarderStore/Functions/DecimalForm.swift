import LarderModel

/// Arithmetic of decimals, of any number of steps, in one call of an SQL function: the numbers
/// between two steps are never written as text and parsed again.
///
/// The first argument is the form: the functions in prefix notation, each as one character, and a
/// point for each of the other arguments, in their order. `larder_decimal('*+...', a, b, c)` is
/// `(a + b) * c`. `SQLWriter` writes forms; the depth of an expression bounds their depth.
struct DecimalForm {
    /// `larder_decimal(form, …)`: the result; nil if an argument is nil, and if a step has no
    /// result.
    static let value = "larder_decimal"
    /// `larder_decimal_order(form, …)`, with a form of two numbers: -1, 0 or 1 if the first is
    /// less than, equal to or greater than the second; nil if one of them is nil.
    static let order = "larder_decimal_order"

    private static let argument = UInt8(ascii: ".")

    private var symbolIndex = 0
    /// The first argument is the form.
    private var argumentIndex = 1

    /// The functions read at most as much text as a decimal has, so their time needs no budget
    /// beyond SQLite's steps.
    static func register(on connection: Connection) throws(SQLiteError) {
        try connection.registerScalar(name: value, argumentCount: -1, isBounded: false) {
            number($0).map { .decimal($0) } ?? .null
        }
        try connection.registerScalar(name: order, argumentCount: -1, isBounded: false) {
            order($0).map { .integer($0) } ?? .null
        }
    }

    /// The result of a form.
    static func number(_ arguments: FunctionArguments) -> ExactDecimal? {
        arguments[0].withSpan { symbols in
            var form = DecimalForm()
            return form.number(symbols, arguments)
        }
    }

    private static func order(_ arguments: FunctionArguments) -> Int64? {
        arguments[0].withSpan { symbols in
            var form = DecimalForm()
            guard let left = form.number(symbols, arguments),
                let right = form.number(symbols, arguments)
            else { return nil }
            return left == right ? 0 : left < right ? -1 : 1
        }
    }

    /// The next number of the form; nil if a step has no result, which is that of the whole form.
    private mutating func number(
        _ symbols: Span<UInt8>, _ arguments: FunctionArguments
    ) -> ExactDecimal? {
        guard symbolIndex < symbols.count else { return nil }
        let symbol = symbols[symbolIndex]
        symbolIndex += 1
        if symbol == Self.argument {
            guard argumentIndex < arguments.count else { return nil }
            argumentIndex += 1
            return DecimalFunctions.decimal(arguments[argumentIndex - 1])
        }
        guard let step = Self.step(symbol), let left = number(symbols, arguments) else {
            return nil
        }
        let result: ExactDecimal?
        switch step {
        case .unary(let function): result = function.value(of: left)
        case .binary(let function):
            guard let right = number(symbols, arguments) else { return nil }
            result = function.value(of: left, right)
        }
        guard let result, result.isDecimal else { return nil }
        return result
    }

    // MARK: Symbols

    private enum Step {
        case unary(ScalarFunction)
        case binary(ScalarFunction)
    }

    private static func step(_ symbol: UInt8) -> Step? {
        switch symbol {
        case UInt8(ascii: "+"): .binary(.add)
        case UInt8(ascii: "-"): .binary(.subtract)
        case UInt8(ascii: "*"): .binary(.multiply)
        case UInt8(ascii: "/"): .binary(.divide)
        case UInt8(ascii: "%"): .binary(.modulus)
        case UInt8(ascii: "n"): .unary(.negate)
        case UInt8(ascii: "a"): .unary(.abs)
        case UInt8(ascii: "f"): .unary(.floor)
        case UInt8(ascii: "c"): .unary(.ceiling)
        case UInt8(ascii: "r"): .unary(.round)
        case UInt8(ascii: "t"): .unary(.trunc)
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
