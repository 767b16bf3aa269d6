import FoundationEssentials
import TestSupport
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("Decimal text")
struct DecimalTextTests {
    @Test(
        "each decimal number has one stored text",
        arguments: [
            ("0", "0"), ("-0", "0"), ("1.500", "1.5"), ("100", "100"), ("-0.050", "-0.05"),
            ("0001", "1"), ("1e3", "1000"), ("12e-3", "0.012"),
        ])
    func canonical(text: String, expected: String) throws {
        #expect(DecimalText.canonical(try #require(Decimal(string: text))) == expected)
    }

    @Test(
        "the stored text of a decimal is recognized by its form",
        arguments: [
            ("0", true), ("7", true), ("100", true), ("-1.5", true), ("-0.05", true),
            ("0.\(String(repeating: "1", count: 37))", true),
            ("0.\(String(repeating: "1", count: 38))", false), ("", false), ("-", false),
            ("-0", false), ("00", false), ("01", false), ("1.", false), ("1.50", false),
            (".5", false), ("0.0", false), ("1e3", false), ("+1", false), ("1.2.3", false),
            ("1,5", false), ("--1", false), ("٣", false),
        ])
    func form(text: String, isCanonical: Bool) {
        #expect(DecimalText.isCanonical(Array(text.utf8)[...]) == isCanonical)
    }

    @Test("random text is recognized as a stored decimal only if it is its number's text")
    func randomForms() throws {
        var random = SeededGenerator.fromEnvironment("decimal forms")
        var count = 0
        for _ in 0..<20_000 {
            let length = Int.random(in: 1...5, using: &random)
            let text = String(
                (0..<length).compactMap { _ in "-.0015".randomElement(using: &random) })
            guard DecimalText.isCanonical(Array(text.utf8)[...]) else { continue }
            count += 1
            let decimal = try #require(Decimal(string: text))
            #expect(DecimalText.canonical(decimal) == text, "seed \(random.seed)")
        }
        #expect(count > 100)
    }

    @Test("NaN has no stored decimal text")
    func notANumber() {
        #expect(DecimalText.canonical(.nan) == nil)
    }

    @Test("stored decimals have the order of the numbers, also of those that are equal as doubles")
    func order() throws {
        let ordered = [
            "-1000000000000000000000000000000000001", "-1000000000000000000000000000000000000",
            "-10", "-9.99", "-9.9", "-1", "-0.1", "-0.01", "0", "0.001", "0.01", "0.1", "0.11",
            "1", "9.9", "9.99", "10", "1000000000000000000000000000000000000",
            "1000000000000000000000000000000000001",
        ]
        for (place, left) in ordered.enumerated() {
            for (otherPlace, right) in ordered.enumerated() {
                let order = DecimalText.compare(left, right)
                #expect(order.signum() == (place - otherPlace).signum(), "\(left) and \(right)")
            }
        }
    }

    @Test("random stored decimals compare as the numbers do")
    func random() throws {
        var random = SeededGenerator.fromEnvironment("decimals")
        for _ in 0..<2_000 {
            let (left, right) = (decimal(&random), decimal(&random))
            let texts = try #require(DecimalText.canonical(left))
            let others = try #require(DecimalText.canonical(right))
            let order = DecimalText.compare(texts, others)
            let expected = left < right ? -1 : left == right ? 0 : 1
            #expect(order.signum() == expected, "\(texts) and \(others), seed \(random.seed)")
            #expect(Decimal(string: texts) == left)
        }
    }

    private func decimal(_ random: inout SeededGenerator) -> Decimal {
        Decimal(
            sign: Bool.random(using: &random) ? .plus : .minus,
            exponent: Int.random(in: -20...20, using: &random),
            significand: Decimal(Int.random(in: 0...20_000, using: &random)))
    }

    @Test("comparing any bytes as stored decimals does not trap")
    func garbage() {
        let texts: [[UInt8]] = [[], [0x2d], [0x2e], [0xff, 0], Array("1e5".utf8), [0x2d, 0x2d]]
        for left in texts {
            for right in texts {
                let order = DecimalText.compare(left.span, right.span).signum()
                let opposite = DecimalText.compare(right.span, left.span).signum()
                #expect(order == -opposite)
            }
        }
    }
}
