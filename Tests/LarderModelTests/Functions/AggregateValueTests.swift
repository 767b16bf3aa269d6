import FoundationEssentials
import LarderModel
import TestSupport
import Testing

@Suite("Aggregates of values")
struct AggregateValueTests {
    @Test("a sum of integers may leave 64 bits on its way, but not at its end")
    func integerSum() {
        var sum = IntegerSum()
        for integer in [Int64.max, Int64.max, -1, -Int64.max] { sum.add(integer) }
        #expect(sum.value == .max - 1)
        sum.add(2)
        #expect(sum.value == nil)
        #expect(sum.average == Double(Int64.max) / 5)
        #expect(IntegerSum().value == 0)
        #expect(IntegerSum().average == nil)
    }

    @Test("a sum of integers is known from their halves too")
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
        "a sum of decimals may leave 38 digits on its way, but not at its end",
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

    @Test("random decimals have the sum that integers of their smallest unit have")
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

    @Test("the median is the middle value, or the mean of the middle two")
    func median() {
        #expect(Statistics.median([Double]()) == nil)
        #expect(Statistics.median([3.0, 1, 2]) == 2)
        #expect(Statistics.median([4.0, 1, 2, 3]) == 2.5)
        #expect(Statistics.median([1.7e308, 1.7e308]) == 1.7e308)
        #expect(Statistics.median([-Double.infinity, .infinity]) == nil)
        #expect(Statistics.median([Decimal(1), 2]) == Decimal(exactly: "1.5"))
    }

    @Test("the mode is the most frequent value, of several the smallest")
    func mode() {
        #expect(Statistics.mode(["b": 2, "a": 1], isLess: <) == "b")
        #expect(Statistics.mode(["c": 2, "b": 2, "a": 1], isLess: <) == "b")
        #expect(Statistics.mode([String: Int](), isLess: <) == nil)
    }

    @Test("the deviation is the population's")
    func deviation() {
        var deviation = Deviation()
        #expect(deviation.value == nil)
        for value in [2.0, 4, 4, 4, 5, 5, 7, 9] { deviation.add(value) }
        #expect(deviation.value == 2)
        deviation.add(.infinity)
        #expect(deviation.value == nil)
    }
}
