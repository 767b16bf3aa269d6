import Foundation
import LarderModel
import LarderQuery
import TestSupport
import Testing

@Suite("Functions of dates")
struct CalendarFunctionTests {
    private func value(_ function: ScalarFunction, _ operands: [Value]) throws -> Value {
        try function.value(of: operands, now: Date(timeIntervalSinceReferenceDate: 0))
    }

    private func date(_ text: String) throws -> Value { .date(try #require(Date(text: text))) }

    @Test(
        "the parts of a date are those of its time zone",
        arguments: [
            (.weekday, "2026-11-23T00:00:00Z", nil, 1), (.weekday, "2026-11-22T23:59:59Z", nil, 7),
            (.weekday, "2000-12-31T00:00:00Z", nil, 7), (.hour, "2026-07-01T22:30:00Z", nil, 22),
            (.hour, "2026-07-01T22:30:00Z", "Europe/Berlin", 0),
            (.day, "2026-07-01T22:30:00Z", "Europe/Berlin", 2),
            (.weekday, "2026-07-05T22:30:00Z", "Europe/Berlin", 1),
            (.year, "2026-01-01T03:00:00Z", "America/New_York", 2025),
            (.month, "2026-01-01T03:00:00Z", "America/New_York", 12),
            (.minute, "2026-01-01T00:00:00Z", "Asia/Kolkata", 30),
            (.second, "2026-01-01T00:00:59.9Z", "Asia/Kolkata", 59),
            // Before a zone had a standard time, its clocks followed the sun.
            (.minute, "1800-01-01T00:00:00Z", "Europe/Berlin", 53),
            // After the listed changes, a rule holds for all years.
            (.hour, "2526-07-01T12:00:00Z", "Europe/Berlin", 14),
            (.hour, "9026-01-01T12:00:00Z", "Europe/Berlin", 13),
            (.hour, "2526-01-01T12:00:00Z", "Australia/Lord_Howe", 23),
        ] as [(ScalarFunction, String, String?, Int64)])
    func parts(function: ScalarFunction, text: String, zone: String?, expected: Int64) throws {
        let operands = [try date(text)] + (zone.map { [.string($0)] } ?? [])
        #expect(try value(function, operands) == .int(expected))
    }

    @Test(
        "startOf returns the first instant of the unit that a date is in",
        arguments: [
            ("2026-11-25T10:20:30.5Z", "year", nil, "2026-01-01T00:00:00Z"),
            ("2026-11-25T10:20:30.5Z", "quarter", nil, "2026-10-01T00:00:00Z"),
            ("2026-11-25T10:20:30.5Z", "MONTH", nil, "2026-11-01T00:00:00Z"),
            ("2026-11-25T10:20:30.5Z", "week", nil, "2026-11-23T00:00:00Z"),
            ("2026-11-25T10:20:30.5Z", "day", nil, "2026-11-25T00:00:00Z"),
            ("2026-11-25T10:20:30.5Z", "hour", nil, "2026-11-25T10:00:00Z"),
            ("2026-11-25T10:20:30.5Z", "minute", nil, "2026-11-25T10:20:00Z"),
            ("2026-11-25T10:20:30.5Z", "second", nil, "2026-11-25T10:20:30Z"),
            ("1999-12-31T23:59:59Z", "week", nil, "1999-12-27T00:00:00Z"),
            ("2026-07-01T22:30:00Z", "day", "Europe/Berlin", "2026-07-01T22:00:00Z"),
            // The days on which clocks change have 23 and 25 hours.
            ("2026-03-29T20:00:00Z", "day", "Europe/Berlin", "2026-03-28T23:00:00Z"),
            ("2026-10-25T20:00:00Z", "day", "Europe/Berlin", "2026-10-24T22:00:00Z"),
            // The hour that clocks show twice begins twice.
            ("2026-10-25T00:30:00Z", "hour", "Europe/Berlin", "2026-10-25T00:00:00Z"),
            ("2026-10-25T01:30:00Z", "hour", "Europe/Berlin", "2026-10-25T01:00:00Z"),
            // Clocks skip midnight: the day begins with the change.
            ("2018-11-04T12:00:00Z", "day", "America/Sao_Paulo", "2018-11-04T03:00:00Z"),
            // Clocks are set back at midnight: the day begins after the second 23 o'clock.
            ("2018-02-18T12:00:00Z", "day", "America/Sao_Paulo", "2018-02-18T03:00:00Z"),
            ("2018-02-18T02:30:00Z", "day", "America/Sao_Paulo", "2018-02-17T02:00:00Z"),
            // A whole day is skipped.
            ("2011-12-30T12:00:00Z", "day", "Pacific/Apia", "2011-12-30T10:00:00Z"),
            ("2012-01-15T00:00:00Z", "month", "Pacific/Apia", "2011-12-31T10:00:00Z"),
        ] as [(String, String, String?, String)])
    func starts(text: String, unit: String, zone: String?, expected: String) throws {
        let operands = [try date(text), .string(unit)] + (zone.map { [.string($0)] } ?? [])
        #expect(try value(.startOf, operands) == date(expected))
    }

    @Test(
        "distance between dates counts whole units, truncated toward zero",
        arguments: [
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:59.9Z", "minute", nil, 0),
            ("2026-01-01T00:00:00.5Z", "2026-01-01T00:01:00.4Z", "second", nil, 59),
            ("2026-01-01T00:00:00Z", "2025-12-31T22:30:00Z", "hour", nil, -1),
            ("2026-01-01T12:00:00Z", "2026-01-03T11:59:59Z", "day", nil, 1),
            ("2026-01-01T12:00:00Z", "2026-01-15T12:00:00Z", "week", nil, 2),
            ("2026-01-31T00:00:00Z", "2026-02-28T00:00:00Z", "month", nil, 0),
            ("2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z", "month", nil, 2),
            ("2026-03-31T00:00:00Z", "2026-01-31T00:00:01Z", "month", nil, -1),
            ("2025-11-30T10:00:00Z", "2026-11-30T09:59:59Z", "quarter", nil, 3),
            ("2004-02-29T00:00:00Z", "2005-02-28T23:00:00Z", "year", nil, 0),
            ("2004-02-29T00:00:00Z", "2005-03-01T00:00:00Z", "year", nil, 1),
            // A day on which clocks change is one day, of 23 or 25 hours.
            ("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "day", "Europe/Berlin", 1),
            ("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "day", nil, 0),
            ("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "hour", "Europe/Berlin", 23),
            ("2026-10-24T22:00:00Z", "2026-10-25T22:00:00Z", "day", "Europe/Berlin", 0),
            // Clocks show an earlier time at the later instant.
            ("2026-10-25T00:50:00Z", "2026-10-25T01:10:00Z", "day", "Europe/Berlin", 0),
            ("2026-10-25T00:50:00Z", "2026-10-25T01:10:00Z", "month", "Europe/Berlin", 0),
        ] as [(String, String, String, String?, Int64)])
    func distances(
        from: String, to: String, unit: String, zone: String?, expected: Int64
    ) throws {
        let operands =
            [try date(from), try date(to), .string(unit)] + (zone.map { [.string($0)] } ?? [])
        #expect(try value(.distance, operands) == .int(expected))
    }

    @Test("functions of dates beyond every calendar return nil or exact values")
    func extremes() throws {
        let zones: [[Value]] = [[], ["Europe/Berlin"], ["UTC"]]
        for seconds in [1e15, -1e15, 1e35, -1e35, 1e300, -1e300] {
            let date = Value.date(Date(timeIntervalSinceReferenceDate: seconds))
            let zero = Value.date(Date(timeIntervalSinceReferenceDate: 0))
            for unit in ["year", "quarter", "month", "week", "day", "hour", "minute", "second"] {
                for zone in zones {
                    let start = try value(.startOf, [date, .string(unit)] + zone)
                    if seconds.magnitude > 1e36 {
                        #expect(start == .null)
                    } else if case .date(let start) = start {
                        #expect(start.timeIntervalSinceReferenceDate <= seconds)
                    } else {
                        Issue.record("\(start)")
                    }
                    let there = try value(.distance, [zero, date, .string(unit)] + zone)
                    let back = try value(.distance, [date, zero, .string(unit)] + zone)
                    if case (.int(let there), .int(let back)) = (there, back) {
                        #expect(there == -back)
                    } else {
                        #expect(there == .null && back == .null)
                    }
                }
            }
        }
    }

    @Test("an unknown unit or time zone is an error with a suggestion, and nil if an object has it")
    func unknownNames() throws {
        let date = try date("2026-01-01")
        #expect(try value(.startOf, [date, "fortnight"]) == .null)
        #expect(try value(.year, [date, "Europe/Berln"]) == .null)
        #expect(try value(.year, [date, "../../etc/passwd"]) == .null)
        #expect(try value(.year, [date, ""]) == .null)
        func error(_ operand: CheckedOperand, _ name: String) -> String {
            do throws(LarderError) {
                try operand.check(name)
                return "none"
            } catch {
                return "[\(error.code.name)] \(error.message); \(error.hint ?? "")"
            }
        }
        #expect(
            error(.unit, "days")
                == "[MALFORMED_VALUE] unknown unit of time \"days\"; did you mean \"day\"?")
        #expect(
            error(.unit, "x").hasSuffix(
                "the units are year, quarter, month, week, day, hour, minute, second"))
        #expect(
            error(.zone, "Europe/Berln")
                == "[MALFORMED_VALUE] unknown time zone \"Europe/Berln\"; "
                + "did you mean \"Europe/Berlin\"?")
        #expect(error(.zone, "berlin").hasSuffix("did you mean \"Europe/Berlin\"?"))
        #expect(error(.zone, "nowhere").hasSuffix("such as \"Europe/Berlin\""))
        #expect(!error(.zone, String(repeating: "x", count: 1_000)).contains("xxx"))
        #expect(error(.zone, "UTC") == "none" && error(.zone, "Europe/Berlin") == "none")
    }

    @Test("parts of dates, startOf and distance equal the results of Foundation's calendar")
    func foundation() throws {
        var random = SeededGenerator.fromEnvironment("functions of dates")
        let units: [(String, Calendar.Component)] = [
            ("year", .year), ("month", .month), ("day", .day), ("hour", .hour),
            ("minute", .minute), ("week", .weekOfYear),
        ]
        let names = [
            "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe",
            "America/Sao_Paulo", "Pacific/Apia", "Europe/Dublin", "Africa/Cairo",
        ]
        for _ in 0..<RandomTesting.iterations(1_000) {
            let name = try #require(names.randomElement(using: &random))
            var calendar = Calendar(identifier: .iso8601)
            calendar.timeZone = try #require(TimeZone(identifier: name))
            // From 1975 to 2036, in quarters of an hour.
            let date = Date(
                timeIntervalSince1970: Double(
                    Int.random(in: 175_320...2_314_000, using: &random) * 900))
            let comment = Comment(rawValue: "\(date.text) in \(name)")
            let zone = Value.string(name)
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second, .weekday], from: date)
            let found = try [ScalarFunction.year, .month, .day, .hour, .minute, .second].map {
                try value($0, [.date(date), zone])
            }
            let expected = [
                parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second,
            ].map { $0.map { Value.int(Int64($0)) } }
            #expect(found == expected, comment)
            let weekday = try #require(parts.weekday)
            #expect(
                try value(.weekday, [.date(date), zone]) == .int(Int64((weekday + 5) % 7 + 1)),
                comment)
            let (unit, component) = try #require(units.randomElement(using: &random))
            let interval = try #require(calendar.dateInterval(of: component, for: date))
            #expect(
                try value(.startOf, [.date(date), .string(unit), zone]) == .date(interval.start),
                "\(comment) \(unit)")
        }
    }
}
