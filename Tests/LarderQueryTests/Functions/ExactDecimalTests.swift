import FoundationEssentials
import LarderModel
import LarderQuery
import TestSupport
import Testing

/// Compares decimals with arithmetic on digits, as by hand.
@Suite("An exact decimal")
struct ExactDecimalTests {
    /// A sum or product of any length: digits from the least significant one on, and the exponent
    /// of the first.
    private struct Digits {
        var isNegative = false
        var digits: [Int]
        var exponent: Int

        init(_ text: String) {
            var text = text[...]
            if text.first == "-" {
                isNegative = true
                text.removeFirst()
            }
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            exponent = parts.count > 1 ? -parts[1].count : 0
            digits = parts.joined().reversed().compactMap(\.wholeNumberValue)
        }

        init(_ digits: [Int], _ exponent: Int, isNegative: Bool) {
            self.digits = digits
            while self.digits.last == 0 { self.digits.removeLast() }
            self.exponent = exponent
            self.isNegative = isNegative
        }

        /// The canonical text; nil for more than 38 digits.
        var text: String? {
            var digits = digits
            var exponent = exponent
            while digits.last == 0 { digits.removeLast() }
            while digits.first == 0 {
                digits.removeFirst()
                exponent += 1
            }
            if digits.isEmpty { return "0" }
            if digits.count > 38 { return nil }
            digits = Array(repeating: 0, count: max(0, exponent)) + digits
            let fraction = max(0, -exponent)
            while digits.count <= fraction { digits.append(0) }
            let whole = digits[fraction...].reversed().map(String.init).joined()
            let rest = digits[..<fraction].reversed().map(String.init).joined()
            return (isNegative ? "-" : "") + whole + (rest.isEmpty ? "" : "." + rest)
        }

        private func scaled(to lower: Int) -> [Int] {
            Array(repeating: 0, count: exponent - lower) + digits
        }

        static func + (left: Digits, right: Digits) -> Digits {
            let exponent = min(left.exponent, right.exponent)
            let summands = [left, right].map { number in
                number.scaled(to: exponent).map { number.isNegative ? -$0 : $0 }
            }
            let count = summands.map(\.count).reduce(0, max) + 1
            var sums = Array(repeating: 0, count: count)
            for summand in summands {
                for (index, digit) in summand.enumerated() { sums[index] += digit }
            }
            let isNegative = (sums.last { $0 != 0 } ?? 0) < 0
            if isNegative { sums = sums.map { -$0 } }
            for index in sums.indices.dropLast() {
                let carry = sums[index] >= 0 ? sums[index] / 10 : (sums[index] - 9) / 10
                sums[index] -= carry * 10
                sums[index + 1] += carry
            }
            return Digits(sums, exponent, isNegative: isNegative)
        }

        static func * (left: Digits, right: Digits) -> Digits {
            var products = Array(repeating: 0, count: left.digits.count + right.digits.count + 2)
            for (index, digit) in left.digits.enumerated() {
                for (other, otherDigit) in right.digits.enumerated() {
                    products[index + other] += digit * otherDigit
                }
            }
            for index in products.indices.dropLast() {
                products[index + 1] += products[index] / 10
                products[index] %= 10
            }
            return Digits(
                products, left.exponent + right.exponent,
                isNegative: left.isNegative != right.isNegative)
        }
    }

    private static func parsed(_ text: String) -> ExactDecimal? {
        ExactDecimal(storedText: Array(text.utf8).span)
    }

    private static func number(_ text: String) throws -> ExactDecimal {
        try #require(parsed(text))
    }

    private static func text(_ number: ExactDecimal?) -> String? {
        number?.withStoredText { text in
            String(decoding: (0..<text.count).map { text[$0] }, as: UTF8.self)
        }
    }

    /// The canonical text of a number of up to 38 digits, most often of few.
    private static func randomText(_ random: inout SeededGenerator) -> String {
        let sizes = [1, 2, 4, 8, 9, 10, 17, 18, 19, 20, 37, 38]
        let size = sizes.randomElement(using: &random) ?? 1
        var digits = (0..<size).map { _ in Int.random(in: 0...9, using: &random) }
        if Int.random(in: 0..<4, using: &random) == 0 { digits = digits.map { _ in 9 } }
        let exponents = [0, 0, 0, -1, -2, -3, -9, -18, -19, -38, 1, 5, 18, 19]
        let exponent = exponents.randomElement(using: &random) ?? 0
        let isNegative = Int.random(in: 0..<3, using: &random) == 0
        return Digits(digits, exponent, isNegative: isNegative).text ?? "0"
    }

    @Test("exact decimals are added, subtracted, multiplied and compared as by hand")
    func arithmetic() throws {
        var random = SeededGenerator.fromEnvironment("exact decimals")
        for _ in 0..<5 * RandomTesting.iterations() {
            let (left, right) = (Self.randomText(&random), Self.randomText(&random))
            let (one, other) = (try Self.number(left), try Self.number(right))
            #expect(Self.text(one) == left)
            let (digits, others) = (Digits(left), Digits(right))
            let negated = Digits(others.digits, others.exponent, isNegative: !others.isNegative)
            let difference = (digits + negated).text
            #expect(
                Self.text(ScalarFunction.add.value(of: one, other)) == (digits + others).text,
                "\(left) + \(right)")
            #expect(
                Self.text(ScalarFunction.subtract.value(of: one, other)) == difference,
                "\(left) - \(right)")
            #expect(
                Self.text(ScalarFunction.multiply.value(of: one, other))
                    == (digits * others).text,
                "\(left) * \(right)")
            #expect((one == other) == (left == right))
            // The difference of numbers of 38 digits may have more.
            let isLess = (digits + negated).isNegative && left != right
            #expect((one < other) == isLess, "\(left) < \(right)")
        }
    }

    @Test("the quotient of exact decimals is the nearest number of 38 digits")
    func division() throws {
        var random = SeededGenerator.fromEnvironment("decimal quotients")
        for _ in 0..<RandomTesting.iterations() {
            let (left, right) = (Self.randomText(&random), Self.randomText(&random))
            let (one, other) = (try Self.number(left), try Self.number(right))
            guard let quotient = Self.text(ScalarFunction.divide.value(of: one, other)) else {
                #expect(right == "0", "\(left) / \(right)")
                continue
            }
            // 2 * |left - quotient * right| is at most |right| times the unit of the last digit.
            let product = Digits(quotient) * Digits(right)
            let negated = Digits(product.digits, product.exponent, isNegative: !product.isNegative)
            let rest = Digits(left) + negated
            let doubled = Digits(rest.digits, rest.exponent, isNegative: false) * Digits("2")
            let isExact = rest.digits.allSatisfy { $0 == 0 }
            let places = quotient.split(separator: ".").dropFirst().first?.count ?? 0
            let count = quotient.utf8.filter { $0 != 0x2D && $0 != 0x2E }
                .drop { $0 == 0x30 }.count
            if isExact { continue }
            // A quotient with fewer digits than 38 ends in zeros, which are not written, or has the
            // 128 places that a decimal can have.
            let unit = Digits([1], max(-places - (38 - count), -128), isNegative: true)
            let bound = Digits(Digits(right).digits, Digits(right).exponent, isNegative: false)
            let excess = doubled + unit * bound
            #expect(
                excess.isNegative || excess.digits.allSatisfy { $0 == 0 },
                "\(left) / \(right) is not \(quotient)")
        }
    }

    @Test(
        "exact decimals are rounded, and keep all digits of a remainder",
        arguments: [
            (ScalarFunction.floor, "-1.5", "-2"), (.ceiling, "-1.5", "-1"), (.round, "2.5", "3"),
            (.round, "-2.5", "-3"), (.trunc, "-2.9", "-2"), (.negate, "0", "0"), (.abs, "-7", "7"),
            (
                .floor, "99999999999999999999999999999999999999",
                "99999999999999999999999999999999999999"
            ),
            (.ceiling, "0.00000000000000000000000000000000000001", "1"),
        ])
    func rounding(function: ScalarFunction, text: String, expected: String) throws {
        #expect(Self.text(function.value(of: try Self.number(text))) == expected)
    }

    @Test(
        "the remainder of exact decimals has the sign of the dividend",
        arguments: [
            ("7", "2", "1"), ("-7", "2", "-1"), ("7.5", "-2", "1.5"), ("0.3", "0.1", "0"),
            ("1", "0", nil), ("100000000000000000000", "7", "2"), ("1", "3000", "1"),
        ])
    func remainder(left: String, right: String, expected: String?) throws {
        let remainder = ScalarFunction.modulus.value(
            of: try Self.number(left), try Self.number(right))
        #expect(Self.text(remainder) == expected)
    }

    @Test("an exact decimal is read from stored text or an integer, and nothing else")
    func reading() throws {
        for (text, expected) in [
            ("0", "0"), ("-0", "0"), ("1.50", "1.5"), ("100", "100"), ("1e3", "1000"),
            ("-0.000000000000000001", "-0.000000000000000001"),
            ("999999999999999999", "999999999999999999"),
            ("9999999999999999999", "9999999999999999999"), ("1e-128", nil),
        ] {
            let number = Self.parsed(text)
            if let expected { #expect(Self.text(number) == expected) }
            #expect((number == nil) == (Decimal(exactly: text) == nil), "\(text)")
        }
        for text in ["", "-", ".", "1.", ".5", "--1", "1.2.3", "1,5", "x", "\u{0}", "٣", "1e999"] {
            #expect(Self.parsed(text) == nil, "\(text)")
        }
        #expect(Self.text(ExactDecimal(Int64.min)) == "-9223372036854775808")
    }

    @Test("sums, deviations and medians of exact decimals equal those of Foundation's Decimal")
    func aggregates() throws {
        var random = SeededGenerator.fromEnvironment("decimal aggregates")
        for _ in 0..<RandomTesting.iterations() / 10 {
            let texts = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                Self.randomText(&random)
            }
            let decimals = texts.compactMap { Decimal(exactly: $0) }
            var (sum, median, deviation) = (DecimalSum(), DecimalMedian(), DecimalDeviation())
            for text in texts {
                let number = try Self.number(text)
                sum.add(number)
                median.add(number)
                deviation.add(number)
            }
            var (otherSum, otherDeviation) = (DecimalSum(), DecimalDeviation())
            for decimal in decimals.shuffled(using: &random) {
                otherSum.add(decimal)
                otherDeviation.add(decimal)
            }
            let total = texts.reduce(Digits("0")) { $0 + Digits($1) }
            #expect(sum.value == total.text.flatMap { Decimal(exactly: $0) }, "\(texts)")
            #expect(sum.value == otherSum.value)
            #expect(sum.average == otherSum.average)
            #expect(deviation.value == otherDeviation.value)
            #expect(median.count == texts.count)
            let middle: Decimal? = Statistics.median(decimals)
            #expect(median.value() == middle, "\(texts)")
            for decimal in decimals { otherSum.remove(decimal) }
            #expect(otherSum.value == 0)
        }
    }
}
