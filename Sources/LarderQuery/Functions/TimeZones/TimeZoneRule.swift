import FoundationEssentials
import LarderModel

/// The rule for all years after the listed changes of a time zone, as POSIX writes it:
/// `CET-1CEST,M3.5.0,M10.5.0/3`.
package struct TimeZoneRule: Hashable, Sendable {
    /// A day of each year on which clocks change.
    enum Day: Hashable, Sendable {
        /// From 1 to 365, without 29 February.
        case withoutLeapDay(Int64)
        /// From 0 to 365.
        case ofYear(Int64)
        /// The weekday, 0 for Sunday, in a week of the month; the last one in week 5.
        case weekday(month: Int64, week: Int64, weekday: Int64)
    }

    struct Change: Hashable, Sendable {
        var day: Day
        /// Seconds from midnight on the clocks that are in use before the change.
        var time: Int64
    }

    struct Summer: Hashable, Sendable {
        var offset: Int
        var start: Change
        var end: Change
    }

    /// Seconds to add to UTC.
    var standardOffset: Int
    /// Nil if clocks never change.
    var summer: Summer?

    /// The changes in a year, the first one first.
    package func changes(in year: Int64) -> [(start: Int64, offset: Int)] {
        guard let summer else { return [] }
        let start = Self.second(of: summer.start, in: year) - Int64(standardOffset)
        let end = Self.second(of: summer.end, in: year) - Int64(summer.offset)
        let changes = [(start: start, offset: summer.offset), (end, standardOffset)]
        return start < end ? changes : changes.reversed()
    }

    /// The period that an instant is in; nil if clocks never change.
    func period(at instant: Int128) -> TimeZoneRules.Period? {
        // The calendar repeats every 400 years, including the weekdays.
        let eraSeconds: Int128 = 146_097 * LocalTime.daySeconds
        let (era, rest) = instant.quotientAndRemainder(flooringBy: eraSeconds)
        let year = Int64(LocalTime(seconds: rest).date.year)
        for year in stride(from: year + 1, through: year - 1, by: -1) {
            for change in changes(in: year).reversed() where Int128(change.start) <= rest {
                return (Int128(change.start) + era * eraSeconds, change.offset)
            }
        }
        return nil
    }

    /// The local second of a change, from 2001.
    private static func second(of change: Change, in year: Int64) -> Int64 {
        func day(_ month: Int64, _ day: Int64) -> Int64 {
            Date.dayFrom2001(year: year, month: month, day: day)
        }
        let found: Int64
        switch change.day {
        case .ofYear(let number): found = day(1, 1) + number
        case .withoutLeapDay(let number):
            let hasLeapDay = day(3, 1) - day(2, 1) == 29
            found = day(1, 1) + number - (hasLeapDay && number >= 60 ? 0 : 1)
        case .weekday(let month, let week, let weekday):
            let first = day(month, 1)
            let next = month == 12 ? first + 31 : day(month + 1, 1)
            // Day 0, 2001-01-01, was a Monday.
            let firstWeekday = (first + 1).quotientAndRemainder(flooringBy: 7).remainder
            let offset = (weekday - firstWeekday).quotientAndRemainder(flooringBy: 7).remainder
            let date = first + offset + (week - 1) * 7
            found = date < next ? date : date - 7
        }
        return found * 86_400 + change.time
    }
}

// MARK: Text

extension TimeZoneRule {
    /// Parses the text of a rule; nil for any other text.
    package init?(text: some Collection<UInt8>) {
        var reader = Reader(rest: Array(text)[...])
        guard reader.skipName(), let standard = reader.time() else { return nil }
        standardOffset = -Int(standard)
        summer = nil
        guard !reader.rest.isEmpty else { return }
        guard reader.skipName() else { return nil }
        var offset = standardOffset + 3_600
        if reader.rest.first != UInt8(ascii: ",") {
            guard let written = reader.time() else { return nil }
            offset = -Int(written)
        }
        guard let start = reader.change(), let end = reader.change(), reader.rest.isEmpty else {
            return nil
        }
        summer = Summer(offset: offset, start: start, end: end)
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }

        /// Skips `CET` or `<+03>`.
        mutating func skipName() -> Bool {
            if skip("<") {
                guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
                rest = rest[(end + 1)...]
                return true
            }
            let name = rest.prefix { byte in
                UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                    || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
            }
            rest = rest.dropFirst(name.count)
            return name.count >= 3
        }

        mutating func number(atMost maximum: Int64) -> Int64? {
            let digits = rest.prefix { $0.isASCIIDigit }
            guard 1...3 ~= digits.count else { return nil }
            rest = rest.dropFirst(digits.count)
            let number = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
            return number <= maximum ? number : nil
        }

        /// Parses `-1`, `5:30` or `-9:30:00`, in seconds. A rule may change clocks within a week.
        mutating func time() -> Int64? {
            let isNegative = skip("-")
            if !isNegative { _ = skip("+") }
            guard let hours = number(atMost: 167) else { return nil }
            var seconds = hours * 3_600
            for length: Int64 in [60, 1] {
                guard skip(":") else { break }
                guard let count = number(atMost: 59) else { return nil }
                seconds += count * length
            }
            return isNegative ? -seconds : seconds
        }

        /// Parses `,M3.5.0/2`, `,J60` or `,59`.
        mutating func change() -> Change? {
            guard skip(",") else { return nil }
            let day: Day
            if skip("M") {
                guard let month = number(atMost: 12), month > 0, skip("."),
                    let week = number(atMost: 5), week > 0, skip("."),
                    let weekday = number(atMost: 6)
                else { return nil }
                day = .weekday(month: month, week: week, weekday: weekday)
            } else if skip("J") {
                guard let number = number(atMost: 365), number > 0 else { return nil }
                day = .withoutLeapDay(number)
            } else {
                guard let number = number(atMost: 365) else { return nil }
                day = .ofYear(number)
            }
            guard skip("/") else { return Change(day: day, time: 7_200) }
            return time().map { Change(day: day, time: $0) }
        }
    }
}
