import FoundationEssentials

extension Date {
    /// The parts of a moment in UTC and the Gregorian calendar, which also holds before 1582.
    struct CalendarParts: Hashable {
        var year: Int64
        /// From 1.
        var month: Int64
        /// Of the month, from 1.
        var day: Int64
        var hour: Int64
        var minute: Int64
        var second: Int64
    }

    /// Nil for a year beyond 64 bits.
    var calendarParts: CalendarParts? {
        let seconds = timeIntervalSinceReferenceDate.rounded(.down)
        // Within 128 bits, and far beyond the last year that 64 bits count.
        guard seconds.magnitude < 1e36 else { return nil }
        let (day, second) = Int128(seconds).dividedRoundingDown(by: 86_400)
        let (era, dayOfEra) = (day + Int128(Self.daysFromMarchOfYear0))
            .dividedRoundingDown(by: 146_097)
        let date = Self.civil(dayOfEra: Int64(dayOfEra))
        guard let year = Int64(exactly: era * 400 + Int128(date.year)) else { return nil }
        let secondOfDay = Int64(second)
        return CalendarParts(
            year: year, month: date.month, day: date.day, hour: secondOfDay / 3_600,
            minute: secondOfDay / 60 % 60, second: secondOfDay % 60)
    }
}

extension Int128 {
    fileprivate func dividedRoundingDown(by divisor: Int128) -> (Int128, Int128) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
