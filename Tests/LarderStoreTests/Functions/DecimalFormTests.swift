import FoundationEssentials
import LarderModel
import LarderQuery
import TestSupport
import Testing

@testable import LarderSQL
@testable import LarderStore

/// Compares the SQL functions of decimals with arithmetic of exact decimals, step by step.
@Suite("A form of decimals")
struct DecimalFormTests {
    private struct Form {
        var symbols: String
        var arguments: [SQLValue] = []
        var result: ExactDecimal?
    }

    private let database: FunctionDatabase
    private var connection: Connection { database.connection }

    init() throws { database = try FunctionDatabase() }

    private func values(_ sql: SQL, _ arguments: [SQLValue]) throws -> [SQLValue] {
        let statement = try connection.prepare(sql)
        try statement.bind(arguments)
        var values: [SQLValue] = []
        while try statement.step() { values.append(statement.value(at: 0)) }
        return values
    }

    private func call(_ function: String, _ form: Form, rows: SQL = "") throws -> [SQLValue] {
        let arguments = [SQLValue.text(form.symbols)] + form.arguments
        let list = SQL(arguments.map { .constant($0) })
        return try values("SELECT \(function: function)(\(list))\(rows)", arguments)
    }

    private func stored(_ number: ExactDecimal?) -> SQLValue {
        number?.withStoredText { SQLValue.text($0.string) } ?? .null
    }

    @Test("random arithmetic on stored decimals in SQL has the exact results")
    func random() throws {
        var random = SeededGenerator.fromEnvironment("forms of decimals")
        for _ in 0..<4_000 {
            let left = form(&random, depth: Int.random(in: 0...3, using: &random))
            let right = form(&random, depth: Int.random(in: 0...2, using: &random))
            let comment: Comment = "\(left) \(right), seed \(random.seed)"
            #expect(
                try call(DecimalArithmetic.value, left, rows: " FROM (SELECT 1 UNION ALL SELECT 2)")
                    == [stored(left.result), stored(left.result)], comment)
            let both = Form(
                symbols: left.symbols + right.symbols,
                arguments: left.arguments + right.arguments)
            let order = left.result.flatMap { left in
                right.result.map { left == $0 ? 0 : left < $0 ? -1 : 1 as Int64 }
            }
            #expect(
                try call(DecimalArithmetic.order, both)
                    == [order.map { .integer($0) } ?? .null], comment)
            guard left.arguments.count > 1 else { continue }
            var sum = DecimalSum()
            if let number = left.result {
                sum.add(number)
                sum.add(number)
            }
            let total = sum.value.flatMap { DecimalText.canonical($0) }
            guard let total else { continue }
            #expect(
                try call(
                    DecimalFunctions.sum, left, rows: " FROM (SELECT 1 UNION ALL SELECT 2)")
                    == [.text(total)], comment)
        }
    }

    // MARK: Random forms

    private func form(_ random: inout SeededGenerator, depth: Int) -> Form {
        guard depth > 0 else {
            let isConstant = Bool.random(using: &random)
            let argument = argument(&random)
            return Form(
                symbols: isConstant ? DecimalArithmetic.constant : DecimalArithmetic.argument,
                arguments: [argument], result: number(argument))
        }
        let functions: [ScalarFunction] = [
            .add, .subtract, .multiply, .multiply, .divide, .modulus, .negate, .abs, .floor,
            .ceiling, .round, .trunc,
        ]
        let function = functions[Int.random(in: 0..<functions.count, using: &random)]
        let symbol = DecimalArithmetic.symbol(of: function) ?? ""
        let left = form(&random, depth: depth - 1)
        if "nafcrt".contains(symbol) {
            return Form(
                symbols: symbol + left.symbols, arguments: left.arguments,
                result: checked(left.result.flatMap { function.value(of: $0) }))
        }
        let right = form(&random, depth: Int.random(in: 0..<depth, using: &random))
        let result = left.result.flatMap { left in
            right.result.flatMap { function.value(of: left, $0) }
        }
        return Form(
            symbols: symbol + left.symbols + right.symbols,
            arguments: left.arguments + right.arguments, result: checked(result))
    }

    private func checked(_ number: ExactDecimal?) -> ExactDecimal? {
        number.flatMap { $0.isDecimal ? $0 : nil }
    }

    private func number(_ argument: SQLValue) -> ExactDecimal? {
        switch argument {
        case .integer(let integer): ExactDecimal(integer)
        case .text(let text): ExactDecimal(storedText: Array(text.utf8).span)
        case .blob(let bytes): ExactDecimal(storedText: bytes.span)
        case .null, .real: nil
        }
    }

    /// Mostly usual decimals; also long ones, integers, nil, and what a damaged file may have.
    private func argument(_ random: inout SeededGenerator) -> SQLValue {
        switch Int.random(in: 0..<16, using: &random) {
        case 0: return .null
        case 1: return .integer([.min, .max, 0, 3, -7].randomElement(using: &random) ?? 0)
        case 2:
            let texts = ["", "-", ".", "1.", "x", "1e3", "1e-20", "--1", "0.1.2", "-0", "1\0"]
            return .text(texts.randomElement(using: &random) ?? "")
        case 3: return .blob([0x31, 0xFF])
        case 4: return .text(text(&random, digits: Int.random(in: 19...38, using: &random)))
        case 5: return .text(text(&random, digits: Int.random(in: 10...18, using: &random)))
        default: return .text(text(&random, digits: Int.random(in: 1...6, using: &random)))
        }
    }

    private func text(_ random: inout SeededGenerator, digits: Int) -> String {
        var text = (0..<digits).map { _ in String(Int.random(in: 0...9, using: &random)) }
        if digits > 1, Bool.random(using: &random) {
            text.insert(".", at: Int.random(in: 1..<digits, using: &random))
        }
        return (Bool.random(using: &random) ? "-" : "") + text.joined()
    }
}
