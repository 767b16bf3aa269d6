import Testing

@testable import LarderPostgres

@Suite("PostgreSQL's numeric, and numbers in digits")
struct NumericTextTests {
    @Test(
        "A number in digits has the binary form of PostgreSQL's source",
        arguments: [
            ("0", [0, 0, 0, 0]), ("1", [1, 0, 0, 0, 1]), ("-1", [1, 0, 0x4000, 0, 1]),
            ("10000", [1, 1, 0, 0, 1]), ("123456.78", [3, 1, 0, 2, 12, 3456, 7800]),
            ("0.0001", [1, 0xffff, 0, 4, 1]), ("0.00000001", [1, 0xfffe, 0, 8, 1]),
            ("-0", [0, 0, 0, 0]), ("007", [1, 0, 0, 0, 7]),
        ] as [(String, [UInt16])])
    func forms(text: String, halves: [UInt16]) {
        #expect(NumericText.encoded(text) == halves.flatMap { bigEndianBytes($0) })
    }

    @Test(
        "A number comes back without zeros that say nothing",
        arguments: [
            ("00.100", "0.1"), ("-0.00", "0"), ("5000", "5000"), ("-20000.0002", "-20000.0002"),
            ("100000000", "100000000"), ("0.00010", "0.0001"),
        ])
    func roundTrip(text: String, canonical: String) throws {
        let bytes = try #require(NumericText.encoded(text))
        #expect(NumericText.decoded(bytes.span) == canonical)
    }

    @Test(
        "A text that is no number in digits is refused",
        arguments: ["", "-", ".", "1.", ".5", "1e5", "+1", " 1", "1 ", "--1", "1.2.3", "NaN", "٣"])
    func malformed(text: String) {
        #expect(NumericText.encoded(text) == nil)
    }

    @Test("A number with one digit more than PostgreSQL stores is refused")
    func limits() {
        let whole = String(repeating: "9", count: NumericText.wholeDigitsMax)
        #expect(NumericText.encoded(whole) != nil)
        #expect(NumericText.encoded(whole + "9") == nil)
        let fraction = String(repeating: "9", count: NumericText.fractionDigitsMax)
        #expect(NumericText.encoded("0." + fraction) != nil)
        #expect(NumericText.encoded("0." + fraction + "9") == nil)
    }

    @Test("NaN, infinities and bytes of other lengths are no numbers")
    func unreadable() {
        let forms: [[UInt16]] = [
            [0, 0, 0xC000, 0], [0, 0, 0xD000, 0], [0, 0, 0xF000, 0], [2, 0, 0, 0, 1],
            [1, 0, 0, 0, 10_000], [],
        ]
        for halves in forms {
            let bytes = halves.flatMap { bigEndianBytes($0) }
            #expect(NumericText.decoded(bytes.span) == nil)
        }
        let odd: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 1]
        #expect(NumericText.decoded(odd.span) == nil)
    }
}
