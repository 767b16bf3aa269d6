import FoundationEssentials
import LarderModel
import Testing

@Suite("Scalar functions")
struct ScalarFunctionTests {
    private func value(_ function: ScalarFunction, _ operands: Value...) -> Value {
        do throws(LarderError) {
            return try function.value(of: operands, now: Date(timeIntervalSinceReferenceDate: 1))
        } catch {
            Issue.record("\(function): \(error)")
            return .null
        }
    }

    private func decimal(_ text: String) throws -> Value {
        .decimal(try #require(Decimal(exactly: text)))
    }

    private func date(_ text: String) throws -> Value { .date(try #require(Date(text: text))) }

    @Test(
        "functions of integers are exact, and nil if the result exceeds 64 bits",
        arguments: [
            (.add, 1, 2, 3), (.add, .int(.max), 1, .null), (.subtract, .int(.min), 1, .null),
            (.multiply, 3_037_000_500, 3_037_000_500, .null), (.multiply, -4, 5, -20),
            (.divide, 7, 2, 3), (.divide, -7, 2, -3), (.divide, 1, 0, .null),
            (.divide, .int(.min), -1, .null), (.modulus, 7, 3, 1), (.modulus, -7, 3, -1),
            (.modulus, 7, 0, .null), (.modulus, .int(.min), -1, 0), (.power, 2, 10, 1024.0),
            (.bitwiseAnd, 12, 10, 8), (.bitwiseOr, 12, 10, 14), (.bitwiseXor, 12, 10, 6),
            (.leftShift, 1, 4, 16), (.leftShift, 1, 64, 0), (.leftShift, 16, -4, 1),
            (.rightShift, -16, 2, -4), (.rightShift, -1, 100, -1), (.rightShift, 1, -4, 16),
            (.leftShift, 1, .int(.min), 0), (.rightShift, -1, .int(.max), -1),
            (.minimum, 3, 2, 2), (.maximum, 3, 2, 3), (.add, .null, 1, .null),
        ] as [(ScalarFunction, Value, Value, Value)])
    func integers(function: ScalarFunction, left: Value, right: Value, expected: Value) {
        #expect(value(function, left, right) == expected)
    }

    @Test(
        "functions of doubles follow IEEE 754, but NaN and division by zero are nil",
        arguments: [
            (.add, 0.1, 0.2, .double(0.1 + 0.2)), (.add, 1, 0.5, 1.5), (.divide, 1.0, 0.0, .null),
            (.divide, 1.0, 0, .null), (.divide, 7.0, 2, 3.5), (.modulus, -7.5, 2, -1.5),
            (.modulus, 1.0, 0.0, .null), (.multiply, 1e308, 10, .double(.infinity)),
            (.subtract, .double(.infinity), .double(.infinity), .null),
            (.power, 0, -1, .null), (.power, -8, 0.5, .null),
            (.power, 2, 0.5, .double(2.0.squareRoot())),
            (.add, .float(0.5), 1, 1.5), (.minimum, 1, 0.5, 0.5), (.maximum, 1, 0.5, 1.0),
        ] as [(ScalarFunction, Value, Value, Value)])
    func doubles(function: ScalarFunction, left: Value, right: Value, expected: Value) {
        #expect(value(function, left, right) == expected)
    }

    @Test(
        "functions of one number keep its type when they round",
        arguments: [
            (.negate, 5, -5), (.negate, .int(.min), .null), (.abs, -5, 5),
            (.abs, .int(.min), .null), (.abs, -2.5, 2.5), (.floor, -2.5, -3.0),
            (.ceiling, -2.5, -2.0), (.round, -2.5, -3.0), (.round, 2.5, 3.0), (.trunc, -2.5, -2.0),
            (.round, 7, 7), (.sqrt, 9, 3.0), (.sqrt, -1.0, .null), (.exp, 0, 1.0),
            (.ln, 1, 0.0), (.ln, 0, .null), (.ln, -1.0, .null), (.log, 1000, 3.0),
            (.log, 0.0, .null),
            (.onesComplement, 0, -1), (.exp, 1000, .double(.infinity)), (.floor, .null, .null),
        ] as [(ScalarFunction, Value, Value)])
    func one(function: ScalarFunction, operand: Value, expected: Value) {
        #expect(value(function, operand) == expected)
    }

    @Test(
        "functions of decimals are exact to 38 digits, and nil beyond",
        arguments: [
            (.add, "0.1", "0.2", "0.3"), (.subtract, "1", "1.0", "0"),
            (.multiply, "1.5", "1.5", "2.25"),
            (.multiply, "12345678901234567890", "10000000000", "123456789012345678900000000000"),
            (.multiply, "1234567890123456789.5", "12345678901234567890.5", nil),
            (
                .multiply, "0.00000000000000000000000000000000000000005", "0.2",
                "0.00000000000000000000000000000000000000001"
            ),
            (
                .add, "99999999999999999999999999999999999999", "1",
                "100000000000000000000000000000000000000"
            ),
            (.add, "99999999999999999999999999999999999999", "2", nil),
            (.add, "1e100", "1", nil), (.add, "1e100", "1e99", "1.1e100"),
            (.divide, "1", "3", "0.33333333333333333333333333333333333333"),
            (.divide, "2", "3", "0.66666666666666666666666666666666666667"),
            (.divide, "-1", "8", "-0.125"), (.divide, "1", "0", nil),
            (.divide, "1e100", "1e-100", nil),
            (.modulus, "-7.5", "2", "-1.5"), (.modulus, "1e100", "7", "4"),
            (.modulus, "5", "1e50", "5"), (.modulus, "5", "0", nil),
            (.minimum, "1.5", "1.25", "1.25"), (.maximum, "1.5", "1.25", "1.5"),
        ] as [(ScalarFunction, String, String, String?)])
    func decimals(
        function: ScalarFunction, left: String, right: String, expected: String?
    ) throws {
        let wanted = try expected.map { try decimal($0) } ?? .null
        #expect(value(function, try decimal(left), try decimal(right)) == wanted)
    }

    @Test("floor, ceiling, round and trunc make integers of decimals, halves away from zero")
    func roundedDecimals() throws {
        for (text, floor, ceiling, round, trunc) in [
            ("2.5", "2", "3", "3", "2"), ("-2.5", "-3", "-2", "-3", "-2"),
            ("2.4", "2", "3", "2", "2"), ("-0.4", "-1", "0", "0", "0"), ("7", "7", "7", "7", "7"),
            ("1e-50", "0", "1", "0", "0"), ("0.5", "0", "1", "1", "0"),
        ] {
            #expect(value(.floor, try decimal(text)) == (try decimal(floor)), "\(text)")
            #expect(value(.ceiling, try decimal(text)) == (try decimal(ceiling)), "\(text)")
            #expect(value(.round, try decimal(text)) == (try decimal(round)), "\(text)")
            #expect(value(.trunc, try decimal(text)) == (try decimal(trunc)), "\(text)")
        }
        #expect(value(.add, try decimal("0.5"), 1) == (try decimal("1.5")))
        #expect(value(.add, try decimal("0.5"), 0.5) == .null)
        #expect(value(.sqrt, try decimal("6.25")) == 2.5)
        #expect(value(.power, try decimal("1.5"), 2) == 2.25)
    }

    @Test("dates move by seconds, and the difference of two dates is in seconds")
    func dates() throws {
        let start = try date("2026-01-31T08:15:00Z")
        let next = try date("2026-02-01T08:15:00Z")
        #expect(value(.add, start, 86_400) == next)
        #expect(value(.subtract, next, 86_400.0) == start)
        #expect(value(.subtract, next, start) == 86_400.0)
        #expect(value(.distance, start, next) == 86_400.0)
        #expect(value(.add, start, .double(.infinity)) == .null)
        #expect(value(.add, 1, start) == .null)
        #expect(value(.minimum, next, start) == start)
        #expect(value(.now) == .date(Date(timeIntervalSinceReferenceDate: 1)))
    }

    @Test(
        "the parts of a date are in UTC and the Gregorian calendar, at any distance",
        arguments: [
            ("2026-01-31T08:15:59.75Z", [2026, 1, 31, 8, 15, 59]),
            ("2000-02-29T23:59:59Z", [2000, 2, 29, 23, 59, 59]),
            ("2000-12-31T23:59:59.5Z", [2000, 12, 31, 23, 59, 59]),
            ("1582-10-14", [1582, 10, 14, 0, 0, 0]), ("0000-03-01", [0, 3, 1, 0, 0, 0]),
            ("2001-01-01T00:00:00Z-63145526400.0s", [0, 1, 1, 0, 0, 0]),
            ("2001-01-01T00:00:00Z-63145526401.0s", [-1, 12, 31, 23, 59, 59]),
            ("2001-01-01T00:00:00Z+1e+20s", [3_168_873_852_682, 2, 22, 9, 46, 40]),
        ] as [(String, [Int64])])
    func calendar(text: String, parts: [Int64]) throws {
        let functions: [ScalarFunction] = [.year, .month, .day, .hour, .minute, .second]
        let found = try functions.map { value($0, try date(text)) }
        #expect(found == parts.map { .int($0) })
    }

    @Test("a date whose year exceeds 64 bits has no parts")
    func farDate() throws {
        for text in ["2001-01-01T00:00:00Z+1e+300s", "2001-01-01T00:00:00Z-1e+35s"] {
            #expect(value(.year, try date(text)) == .null)
            #expect(value(.second, try date(text)) == .null)
        }
    }

    @Test("length counts characters, and functions of strings return the composed form")
    func strings() {
        #expect(value(.length, "cafe\u{301}") == 4)
        #expect(value(.length, "👨‍👩‍👧\r\n") == 2)
        #expect(value(.length, "") == 0)
        #expect(value(.uppercase, "straße") == "STRASSE")
        #expect(value(.lowercase, "ÄÖ") == "äö")
        #expect(value(.canonical, "Crème Brûlée ß") == "creme brulee ss")
        guard case .string(let upper) = value(.uppercase, "e\u{301}") else {
            Issue.record("a string is expected")
            return
        }
        #expect(Array(upper.unicodeScalars) == ["\u{C9}"])
        #expect(value(.minimum, "b", "a") == "a")
        #expect(value(.length, 5) == .null)
    }

    @Test("coalesce returns the first value that is not nil, and ternary evaluates only its branch")
    func choices() {
        #expect(value(.coalesce, .null, 2, 3) == 2)
        #expect(value(.coalesce, .null, .null) == .null)
        #expect(value(.conditional, true, 1, .null) == 1)
        #expect(value(.conditional, false, 1, .null) == .null)
        #expect(value(.conditional, .null, 1, 2) == 2)
        #expect(value(.minimum, 1, .null, 2) == .null)
    }

    @Test("a function of operands for which it has no result returns nil")
    func strangers() {
        let strangers: [Value] = [
            true, 1, 2.5, "a", .json("1"), .data(Data()), .objects([]), .double(.nan),
            .decimal(.nan), .date(Date(timeIntervalSinceReferenceDate: .infinity)),
        ]
        for function in ScalarFunction.allCases {
            for left in strangers {
                _ = value(function, left)
                for right in strangers {
                    let result = value(function, left, right)
                    if case .double(let double) = result, function != .coalesce,
                        function != .conditional
                    {
                        #expect(!double.isNaN)
                    }
                }
            }
        }
    }
}
