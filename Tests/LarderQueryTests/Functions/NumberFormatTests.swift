import FoundationEssentials
import LarderModel
import Testing

@Suite("Rounding to decimal places, and numbers as text")
struct NumberFormatTests {
    private func value(_ function: ScalarFunction, _ operands: [Value]) throws -> Value {
        try function.value(of: operands, now: Date(timeIntervalSinceReferenceDate: 0))
    }

    private func decimal(_ text: String) throws -> Value {
        .decimal(try #require(Decimal(exactly: text)))
    }

    @Test(
        "round rounds a decimal exactly, halves away from zero",
        arguments: [
            ("2.345", 2, "2.35"), ("-2.345", 2, "-2.35"), ("2.344", 2, "2.34"),
            ("2.5", 0, "3"), ("-2.5", 0, "-3"), ("1250", -2, "1300"), ("1249", -2, "1200"),
            ("-49", -2, "0"), ("50", -2, "100"), ("9.999", 2, "10"), ("1.5", 100, "1.5"),
            ("1.5", .max, "1.5"), ("1.5", .min, "0"), ("1e-50", 49, "0"), ("5e-50", 49, "1e-49"),
            (
                "99999999999999999999999999999999999999", -1,
                "100000000000000000000000000000000000000"
            ),
            ("0.125", 2, "0.13"),
        ] as [(String, Int64, String)])
    func decimals(number: String, places: Int64, expected: String) throws {
        #expect(try value(.round, [try decimal(number), .int(places)]) == decimal(expected))
    }

    @Test("round keeps integers, and rounds doubles by their shortest text")
    func others() throws {
        #expect(try value(.round, [1_250, -2]) == 1_300)
        #expect(try value(.round, [7, 3]) == 7)
        #expect(try value(.round, [.int(.max), -1]) == .null)
        #expect(try value(.round, [.int(.max), -19]) == .null)
        #expect(try value(.round, [.int(.min), -20]) == 0)
        #expect(try value(.round, [.double(2.675), 2]) == .double(2.68))
        #expect(try value(.round, [.double(-2.5), 0]) == .double(-3))
        #expect(try value(.round, [.double(1e300), 2]) == .double(1e300))
        #expect(try value(.round, [.double(.infinity), 2]) == .double(.infinity))
        let least = Value.double(.leastNonzeroMagnitude)
        #expect(try value(.round, [least, 400]) == least)
        #expect(try value(.round, [.float(0.5), 0]) == .double(1))
        #expect(try value(.round, [.double(1.5), .double(0.5)]) == .null)
    }

    @Test(
        "format writes a number with the given number of decimal places",
        arguments: [
            ("12.5", 2, "12.50"), ("12.345", 2, "12.35"), ("-0.001", 2, "0.00"), ("0", 0, "0"),
            ("0", 3, "0.000"), ("-1.5", 0, "-2"), ("0.05", 1, "0.1"), ("1e10", 1, "10000000000.0"),
            ("1e-10", 2, "0.00"), ("1250", -2, "1300"), ("0.5", 3, "0.500"),
            ("999.995", 2, "1000.00"),
        ] as [(String, Int64, String)])
    func format(number: String, places: Int64, expected: String) throws {
        #expect(try value(.format, [try decimal(number), .int(places)]) == .string(expected))
    }

    @Test("format takes integers and doubles too, but not infinity")
    func formatOthers() throws {
        #expect(try value(.format, [120, 0]) == "120")
        #expect(try value(.format, [.int(.min), 1]) == "-9223372036854775808.0")
        #expect(try value(.format, [.double(2.675), 2]) == "2.68")
        #expect(try value(.format, [.double(1e21), 0]) == "1000000000000000000000")
        #expect(try value(.format, [.double(.infinity), 0]) == .null)
        #expect(try value(.format, [.double(-0.0), 1]) == "0.0")
        let largest = try value(.format, [.double(-.greatestFiniteMagnitude), 1])
        guard case .string(let text) = largest else {
            Issue.record("\(largest)")
            return
        }
        #expect(text.utf8.count == 312)
    }
}
