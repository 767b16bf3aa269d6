public import FoundationEssentials

// Dates as ISO 8601 in UTC. The fraction of the second has the fewest digits that read back as the
// identical date, and none for a whole second: `2026-01-31T08:15:00.25Z`.
//
// The calendar is the proleptic Gregorian one, as in ISO 8601. A date outside the years 0000 to
// 9999 is written as its distance from 2001 in seconds: `2001-01-01T00:00:00Z+1e+300s`.

extension Date {
    /// The date in ISO 8601.
    public var text: String {
        let seconds = timeIntervalSinceReferenceDate
        guard seconds >= Self.secondsMin, seconds < Self.secondsEnd else {
            return "\(Self.distanceStart)\(seconds < 0 ? "" : "+")\(seconds)s"
        }
        // The shortest text of the seconds, split at the decimal point. The fraction of a negative
        // number counts backwards, so it is replaced by its complement.
        let (wholeText, fractionText) = Self.expanded(seconds.magnitude)
        var whole = Int64(wholeText) ?? 0
        var fraction = Array(fractionText.utf8)
        if seconds < 0 {
            whole = -whole
            if !fraction.isEmpty {
                whole -= 1
                fraction = Self.complement(of: fraction)
            }
        }
        let (day, second) = whole.quotientAndRemainder(flooringBy: 86_400)
        let (year, month, dayOfMonth) = Self.civil(dayFrom2001: day)
        let time = [second / 3_600, second / 60 % 60, second % 60].map { Self.padded($0, 2) }
        let point = fraction.isEmpty ? "" : ".\(String(decoding: fraction, as: UTF8.self))"
        return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(dayOfMonth, 2))"
            + "T\(time.joined(separator: ":"))\(point)Z"
    }

    /// Parses ISO 8601: a day, which means midnight in UTC, or a day and a time with `Z` or an
    /// offset such as `+02:00`. Seconds are optional and may have a fraction. Nil for any other
    /// text.
    ///
    /// - Parameter assumesUTC: Whether a time with neither is in UTC. Otherwise the result is nil.
    public init?(text: String, assumesUTC: Bool = false) {
        if text.utf8.starts(with: Self.distanceStart.utf8),
            let distance = Self.distance(text.utf8.dropFirst(Self.distanceStart.utf8.count))
        {
            self.init(timeIntervalSinceReferenceDate: distance)
            return
        }
        guard text.utf8.count <= Self.textBytesMax else { return nil }
        self.init(calendarText: Array(text.utf8)[...], assumesUTC: assumesUTC)
    }

    /// Parses a day, or a day and a time, as ``init(text:assumesUTC:)`` does.
    package init?(calendarText: ArraySlice<UInt8>, assumesUTC: Bool = false) {
        guard calendarText.count <= Self.textBytesMax else { return nil }
        var reader = DateReader(rest: calendarText)
        guard let instant = reader.instant(assumesUTC: assumesUTC) else { return nil }
        let whole =
            Self.dayFrom2001(year: instant.year, month: instant.month, day: instant.day) * 86_400
            + instant.secondOfDay
        guard !instant.fraction.isEmpty else {
            self.init(timeIntervalSinceReferenceDate: Double(whole))
            return
        }
        // The decimal text is parsed as one number, so that it is rounded once.
        let isNegative = whole < 0
        let digits = isNegative ? Self.complement(of: instant.fraction) : instant.fraction
        let magnitude = isNegative ? -(whole + 1) : whole
        let number =
            "\(isNegative ? "-" : "")\(magnitude).\(String(decoding: digits, as: UTF8.self))"
        guard let seconds = Double(number) else { return nil }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }

    /// Longer than any date: a second has at most 400 digits of a fraction.
    private static let textBytesMax = 512
    private static let distanceStart = "2001-01-01T00:00:00Z"
    /// 0000-01-01 and 10000-01-01, in seconds from 2001.
    private static let secondsMin = Double(
        dayFrom2001(year: Int64(0), month: 1, day: 1) * 86_400)
    private static let secondsEnd = Double(
        dayFrom2001(year: Int64(10_000), month: 1, day: 1) * 86_400)

    private static func distance(_ text: Substring.UTF8View) -> Double? {
        guard text.first == UInt8(ascii: "+") || text.first == UInt8(ascii: "-"),
            text.last == UInt8(ascii: "s"),
            let seconds = Double(exactText: String(Substring(text.dropLast())))
        else { return nil }
        return seconds.isFinite ? seconds : nil
    }

    /// The digits before and after the decimal point of a number below 10^15.
    private static func expanded(_ number: Double) -> (whole: String, fraction: String) {
        let description = number.description
        let parts = description.split(separator: "e")
        let digits = parts[0].split(separator: ".")
        let fraction = digits.count > 1 && digits[1] != "0" ? String(digits[1]) : ""
        guard parts.count > 1, let exponent = Int(parts[1]) else {
            return (String(digits[0]), fraction)
        }
        // Below 10^15, Swift writes an exponent for small numbers only: 5e-07.
        return ("0", String(repeating: "0", count: -exponent - 1) + digits[0] + fraction)
    }

    /// The digits of 1 - 0.digits. Trailing zeros are kept.
    private static func complement(of digits: [UInt8]) -> [UInt8] {
        let zero = UInt8(ascii: "0")
        guard let last = digits.lastIndex(where: { $0 != zero }) else { return digits }
        return digits.enumerated().map { index, digit in
            if index < last { return zero + 9 - (digit - zero) }
            return index == last ? zero + 10 - (digit - zero) : zero
        }
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Days from 2001-01-01 in the Gregorian calendar. Years are counted from March, so that the
    /// leap day is the last day of a year.
    package static func dayFrom2001<Number: FixedWidthInteger & SignedInteger>(
        year: Number, month: Number, day: Number
    ) -> Number {
        let marchYear = month > 2 ? year : year - 1
        let (era, yearOfEra) = marchYear.quotientAndRemainder(flooringBy: 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - Number(daysFromMarchOfYear0)
    }

    private static func civil(dayFrom2001 day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (day + daysFromMarchOfYear0)
            .quotientAndRemainder(flooringBy: 146_097)
        let date = civil(dayOfEra: dayOfEra)
        return (era * 400 + date.year, date.month, date.day)
    }

    /// The date of a day in an era of 400 years that begins in March.
    package static func civil(dayOfEra: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + (month <= 2 ? 1 : 0), month, dayOfMonth)
    }

    /// The number of days from 0000-03-01 to 2001-01-01.
    package static let daysFromMarchOfYear0: Int64 = 730_791
}
