import FoundationEssentials
import LarderModel
import LarderQuery
import TestSupport
import Testing

private let least = Double.leastNonzeroMagnitude
private let normal = Double.leastNormalMagnitude

@Suite("Aggregates of values")
struct AggregateValueTests {
    @Test("partial sums of integers may exceed 64 bits, the result may not")
    func integerSum() {
        var sum = IntegerSum()
        for integer in [Int64.max, Int64.max, -1, -Int64.max] { sum.add(integer) }
        #expect(sum.value == Int64.max - 1)
        sum.add(2)
        #expect(sum.value == nil)
        #expect(sum.average == Double(Int64.max) / 5)
        #expect(IntegerSum().value == 0)
        #expect(IntegerSum().average == nil)
    }

    @Test("a sum of integers can be computed from their halves")
    func halves() {
        let integers: [Int64] = [.max, .min, -1, 5, 1 << 40, -(1 << 33) - 7]
        var sum = IntegerSum()
        for integer in integers { sum.add(integer) }
        let high = integers.reduce(0) { $0 + ($1 >> 32) }
        let low = integers.reduce(0) { $0 + ($1 & 0xFFFF_FFFF) }
        #expect(
            IntegerSum(highHalves: high, lowHalves: low, count: Int64(integers.count)) == sum)
    }

    @Test(
        "partial sums of decimals may exceed 38 digits, the result may not",
        arguments: [
            ([], "0"), (["0.1", "0.2"], "0.3"), (["-0.1", "0.3", "-0.2"], "0"),
            (["1e100", "1", "-1e100"], "1"), (["1e100", "1"], nil), (["-1e127", "1e127"], "0"),
            (["99999999999999999999999999999999999999", "1"], "1e38"),
            (["-5", "3"], "-2"), (["1e-120", "-3e-120"], "-2e-120"),
            (["999999999", "1"], "1000000000"), (["-1000000000", "1"], "-999999999"),
        ] as [([String], String?)])
    func decimalSum(texts: [String], expected: String?) throws {
        var sum = DecimalSum()
        for text in texts { sum.add(try #require(Decimal(exactly: text))) }
        #expect(sum.value == expected.flatMap { Decimal(exactly: $0) })
    }

    @Test("the average of decimals has 38 digits")
    func decimalAverage() throws {
        var sum = DecimalSum()
        #expect(sum.average == nil)
        for number in [1, 0, 0] { sum.add(Decimal(number)) }
        #expect(sum.average == Decimal(exactly: "0.33333333333333333333333333333333333333"))
    }

    @Test("random decimals have the sum of the integers in their smallest unit")
    func randomDecimals() throws {
        var random = SeededGenerator.fromEnvironment("decimal sums")
        for _ in 0..<RandomTesting.iterations() / 10 {
            var sum = DecimalSum()
            var whole: Int128 = 0
            for _ in 0..<Int.random(in: 0...20, using: &random) {
                let number =
                    Int64.random(in: Int64.min...Int64.max, using: &random)
                    >> Int64.random(in: 0...63, using: &random)
                sum.add(try #require(Decimal(exactly: "\(number)e-9")))
                whole += Int128(number)
            }
            #expect(sum.value == Decimal(exactly: "\(whole)e-9"), "seed \(random.seed)")
        }
    }

    @Test("the median of an aggregate is the middle value, or the mean of two")
    func median() {
        #expect(Statistics.median([Double]()) == nil)
        #expect(Statistics.median([3.0, 1, 2]) == 2)
        #expect(Statistics.median([4.0, 1, 2, 3]) == 2.5)
        #expect(Statistics.median([1.7e308, 1.7e308]) == 1.7e308)
        #expect(Statistics.median([-Double.infinity, .infinity]) == nil)
        #expect(Statistics.median([Decimal(1), 2]) == Decimal(exactly: "1.5"))
    }

    @Test("the mode of an aggregate is the most frequent value, the smallest of several")
    func mode() {
        #expect(Statistics.mode(["b": 2, "a": 1], isLess: <) == "b")
        #expect(Statistics.mode(["c": 2, "b": 2, "a": 1], isLess: <) == "b")
        #expect(Statistics.mode([String: Int](), isLess: <) == nil)
    }

    @Test(
        "a sum of doubles is the nearest double of the exact sum",
        arguments: [
            ([], 0, nil), ([0.1, 0.2], 0.30000000000000004, 0.15000000000000002),
            ([1e308, 1e308, -1e308], 1e308, 1e308 / 3), ([1e308, 1e308], .infinity, 1e308),
            ([1e300, 1, -1e300], 1, 1.0 / 3), ([-1e300, -1, 1e300], -1, -1.0 / 3),
            ([-0.0], 0, 0), ([least], least, least), ([-least, -least], -2 * least, -least),
            ([-normal, least], -normal.nextDown, nil),
            ([.greatestFiniteMagnitude], .greatestFiniteMagnitude, .greatestFiniteMagnitude),
            // Halves are rounded to even, anything more is rounded up.
            ([0x1p53, 1], 0x1p53, 0x1p52), ([0x1p53, 3], 0x1p53 + 4, 0x1p52 + 2),
            ([0x1p53, 1, 0x1p-900], 0x1p53 + 2, nil), ([0x1p53, 1, -0x1p-900], 0x1p53, nil),
            ([.infinity, 1], .infinity, .infinity), ([-.infinity, 1e308], -.infinity, -.infinity),
            ([.nan, 2], 2, 2),
        ] as [([Double], Double, Double?)])
    func realSum(values: [Double], expected: Double, average: Double?) {
        for values in [values, values.reversed()] {
            var sum = RealSum()
            for value in values { sum.add(value) }
            #expect(sum.value == expected)
            if let average { #expect(sum.average == average) }
            #expect((sum.average == nil) == values.isEmpty)
        }
    }

    @Test("opposite infinities have no sum, no average and no standard deviation")
    func infinities() {
        var sum = RealSum()
        var deviation = Deviation()
        for value in [1, Double.infinity, -.infinity, .infinity] {
            sum.add(value)
            deviation.add(value)
        }
        #expect(sum.value == nil)
        #expect(sum.average == nil)
        #expect(deviation.value == nil)
    }

    @Test("the standard deviation is that of the population")
    func deviation() {
        var deviation = Deviation()
        #expect(deviation.value == nil)
        for value in [2.0, 4, 4, 4, 5, 5, 7, 9] { deviation.add(value) }
        #expect(deviation.value == 2)
        deviation.add(.infinity)
        #expect(deviation.value == nil)
    }

    @Test(
        "standard deviations neither overflow nor underflow",
        arguments: [
            ([1e300, -1e300], 1e300), ([.greatestFiniteMagnitude], 0),
            ([0x1p-1000, 0x3p-1000], 0x1p-1000),
            ([0, least], 0), ([0, 8 * least], 4 * least),
            ([0x1p53, 0x1p53 + 2], 1), ([1e15 + 0.125, 1e15 + 0.375], 0.125),
            ([-.greatestFiniteMagnitude, .greatestFiniteMagnitude], .greatestFiniteMagnitude),
        ] as [([Double], Double)])
    func extremeDeviation(values: [Double], expected: Double) {
        var deviation = Deviation()
        for value in values { deviation.add(value) }
        #expect(deviation.value == expected)
    }

    @Test("standard deviations of integers and decimals use all digits")
    func exactDeviation() throws {
        var integers = Deviation()
        for integer in [Int64.max, Int64.max - 2] { integers.add(integer) }
        #expect(integers.value == 1)
        integers = Deviation()
        for integer in [Int64.min, Int64.max] { integers.add(integer) }
        #expect(integers.value == 0x1p63)
        var decimals = DecimalDeviation()
        #expect(decimals.value == nil)
        for text in ["1e30", "1000000000000000000000000000000.2"] {
            decimals.add(try #require(Decimal(exactly: text)))
        }
        #expect(decimals.value == 0.1)
        decimals = DecimalDeviation()
        for text in ["1e127", "-1e127"] { decimals.add(try #require(Decimal(exactly: text))) }
        #expect(decimals.value == 1e127)
    }

    @Test("sums, averages and deviations do not depend on the order of the values")
    func anyOrder() throws {
        var random = SeededGenerator.fromEnvironment("orders of sums")
        for _ in 0..<RandomTesting.iterations() / 10 {
            var values = (0..<Int.random(in: 1...30, using: &random)).map { _ in
                Double(bitPattern: UInt64.random(in: .min ... .max, using: &random))
            }
            // Half of the values are close to each other, so that rounding would lose digits.
            for index in values.indices where Bool.random(using: &random) {
                values[index] = Double.random(in: -1000...1000, using: &random)
            }
            let (first, second) = (results(values), results(values.shuffled(using: &random)))
            #expect(first == second, "seed \(random.seed)")
        }
    }

    private func results(_ values: [Double]) -> [Double?] {
        var sum = RealSum()
        var deviation = Deviation()
        var decimals = DecimalDeviation()
        for value in values {
            sum.add(value)
            deviation.add(value)
            if abs(value) < 1000, let decimal = Decimal(exactly: "\(value)") {
                decimals.add(decimal)
            }
        }
        return [sum.value, sum.average, deviation.value, decimals.value]
    }

    @Test("random standard deviations equal those computed with 128-bit integers")
    func randomDeviations() throws {
        var random = SeededGenerator.fromEnvironment("deviations")
        for _ in 0..<RandomTesting.iterations() / 10 {
            var (binary, decimal) = (Deviation(), DecimalDeviation())
            var (sum, squares, count) = (Int128(0), Int128(0), 0)
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                let number =
                    Int64.random(in: -(1 << 53)...(1 << 53), using: &random)
                    >> Int64.random(
                        in: 0...53, using: &random)
                binary.add(number)
                decimal.add(Decimal(number))
                sum += Int128(number)
                squares += Int128(number) * Int128(number)
                count += 1
            }
            let spread = Double(Int128(count) * squares - sum * sum)
            let expected = spread.squareRoot() / Double(count)
            for value in [binary.value, decimal.value] {
                let value = try #require(value)
                #expect(abs(value - expected) <= 4 * expected.ulp, "seed \(random.seed)")
            }
        }
    }
}
