import LarderModel
import LarderQuery
import TestSupport
import Testing

/// Compares short decimals with exact ones of any length.
@Suite("A short decimal")
struct ShortDecimalTests {
    private func exact(_ text: String) -> ExactDecimal? {
        ExactDecimal(storedText: Array(text.utf8).span)
    }

    private func short(_ text: String) -> ShortDecimal? { ShortDecimal(Array(text.utf8).span) }

    @Test(
        "a short decimal is parsed from up to 18 digits without an exponent",
        arguments: [
            "0", "-0", "7", "-7.25", "100", "0.00000000000000001", "-999999999999999999",
            "99999999999999999.9", "001.50",
        ])
    func parsed(text: String) throws {
        #expect(ExactDecimal(try #require(short(text))) == exact(text))
    }

    @Test(
        "a short decimal is not parsed from more digits, an exponent or malformed text",
        arguments: [
            "", "-", ".", "-.", "1.", ".5", "+1", "1e3", "1.2.3", "--1", "1-", " 1", "1 ", "٣",
            "\0", "1\0", "1000000000000000000", "0.000000000000000001", "1234567890.123456789",
        ])
    func notParsed(text: String) {
        #expect(short(text) == nil)
    }

    @Test("arithmetic and comparison of short decimals equal those of exact decimals")
    func random() throws {
        var random = SeededGenerator.fromEnvironment("short decimals")
        var shortCount = 0
        for _ in 0..<20_000 {
            let (left, right) = (number(&random), number(&random))
            let exactLeft = ExactDecimal(left)
            let exactRight = ExactDecimal(right)
            for function in [ScalarFunction.add, .subtract, .multiply, .divide, .modulus] {
                guard let result = function.value(of: left, right) else { continue }
                shortCount += 1
                #expect(
                    ExactDecimal(result) == function.value(of: exactLeft, exactRight),
                    "\(left) \(function) \(right), seed \(random.seed)")
            }
            for function in [ScalarFunction.negate, .abs, .floor, .round] {
                guard let result = function.value(of: left) else { continue }
                #expect(
                    ExactDecimal(result) == function.value(of: exactLeft),
                    "\(function) \(left), seed \(random.seed)")
            }
            guard let order = left.order(right) else { continue }
            let expected: Int64 = exactLeft == exactRight ? 0 : exactLeft < exactRight ? -1 : 1
            #expect(order == expected, "\(left) and \(right), seed \(random.seed)")
        }
        #expect(shortCount > 20_000)
    }

    /// Numbers of any length, often the products of others, and the largest and smallest integers.
    private func number(_ random: inout SeededGenerator) -> ShortDecimal {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return ShortDecimal([.min, .max, 0, 1, -1].randomElement(using: &random) ?? 0)
        case 1:
            let (left, right) = (number(&random), number(&random))
            return ScalarFunction.multiply.value(of: left, right) ?? left
        default:
            let digits = Int.random(in: 1...18, using: &random)
            var text = (0..<digits).map { _ in
                String(Int.random(in: 0...9, using: &random))
            }
            if Bool.random(using: &random), digits > 1 {
                text.insert(".", at: Int.random(in: 1..<digits, using: &random))
            }
            let sign = Bool.random(using: &random) ? "-" : ""
            return short(sign + text.joined()) ?? ShortDecimal(0)
        }
    }
}
