import LarderModel
import LarderQuery
import LarderSQL

/// A form of ``DecimalArithmetic`` with its constants, parsed once per run of a statement.
final class DecimalForm {
    private enum Symbol {
        case argument(index: Int)
        case constant(index: Int)
        case unary(ScalarFunction)
        case binary(ScalarFunction)
    }

    /// An argument that is the same for all rows; nil if it is nil.
    private struct Constant {
        let number: ExactDecimal?
        /// Nil also if it is not short.
        let shortNumber: ShortDecimal?
    }

    private let symbols: [Symbol]
    private let constants: [Constant]
    /// Whether the constants are short decimals, and the functions have short results.
    private let isShort: Bool

    init(_ arguments: FunctionArguments) {
        var symbols: [Symbol] = []
        var constants: [Constant] = []
        // The first argument is the form.
        var argumentIndex = 1
        for character in arguments[0].string {
            switch String(character) {
            case DecimalArithmetic.argument:
                symbols.append(.argument(index: argumentIndex))
                argumentIndex += 1
            case DecimalArithmetic.constant:
                let constant = arguments[argumentIndex]
                symbols.append(.constant(index: constants.count))
                constants.append(
                    Constant(
                        number: DecimalFunctions.decimal(constant),
                        shortNumber: DecimalFunctions.shortDecimal(constant)))
                argumentIndex += 1
            default: if let step = Self.step(character) { symbols.append(step) }
            }
        }
        self.symbols = symbols
        self.constants = constants
        isShort = symbols.allSatisfy { symbol in
            switch symbol {
            case .argument: true
            case .constant(let constant): constants[constant].shortNumber != nil
            // A function without a short result for 1 has none for other numbers.
            case .unary(let function): function.value(of: ShortDecimal(1)) != nil
            case .binary(let function):
                function.value(of: ShortDecimal(1), ShortDecimal(1)) != nil
            }
        }
    }

    /// The functions read at most as much text as a decimal has, so their time needs no budget
    /// beyond SQLite's steps.
    static func register(on connection: Connection) throws(SQLError) {
        try connection.registerScalar(
            name: DecimalArithmetic.value, argumentCount: -1, isBounded: false
        ) {
            arguments in
            arguments.withPrepared(at: 0) {
                DecimalForm(arguments)
            } body: { form in
                form.number(arguments).map { .decimal($0) } ?? .null
            }
        }
        try connection.registerScalar(
            name: DecimalArithmetic.order, argumentCount: -1, isBounded: false
        ) {
            arguments in
            arguments.withPrepared(at: 0) {
                DecimalForm(arguments)
            } body: { form in
                form.order(arguments).map { .integer($0) } ?? .null
            }
        }
    }

    /// The result of the form; nil if there is none.
    func number(_ arguments: FunctionArguments) -> ExactDecimal? {
        if let number = shortNumber(arguments) { return ExactDecimal(number) }
        var index = 0
        return number(arguments, &index)
    }

    /// The result of the form if it is a short decimal, and if all the numbers of the form are.
    func shortNumber(_ arguments: FunctionArguments) -> ShortDecimal? {
        guard isShort else { return nil }
        var index = 0
        return shortNumber(arguments, &index)
    }

    private func order(_ arguments: FunctionArguments) -> Int64? {
        var index = 0
        if isShort, let left = shortNumber(arguments, &index),
            let right = shortNumber(arguments, &index), let order = left.order(right)
        {
            return order
        }
        index = 0
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
        case .constant(let constant): return constants[constant].number
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

    /// The number as a short decimal; nil if one of the numbers is not short.
    private func shortNumber(_ arguments: FunctionArguments, _ index: inout Int) -> ShortDecimal? {
        guard index < symbols.count else { return nil }
        let symbol = symbols[index]
        index += 1
        switch symbol {
        case .argument(let argument):
            guard argument < arguments.count else { return nil }
            return DecimalFunctions.shortDecimal(arguments[argument])
        case .constant(let constant): return constants[constant].shortNumber
        case .unary(let function):
            guard let operand = shortNumber(arguments, &index) else { return nil }
            return function.value(of: operand)
        case .binary(let function):
            guard let left = shortNumber(arguments, &index),
                let right = shortNumber(arguments, &index)
            else { return nil }
            return function.value(of: left, right)
        }
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
}
