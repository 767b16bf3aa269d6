import FoundationEssentials

extension Date {
    /// The components of an instant in UTC and the proleptic Gregorian calendar.
    struct CalendarParts: Hashable {
        var year: Int64
        /// From 1.
        var month: Int64
        /// The day of the month, from 1.
        var day: Int64
        var hour: Int64
        var minute: Int64
        var second: Int64
    }

    /// Nil for a year outside 64 bits.
    var calendarParts: CalendarParts? {
        let seconds = timeIntervalSinceReferenceDate.rounded(.down)
        // The bound keeps the seconds within 128 bits and is far beyond the last year of 64 bits.
        guard seconds.magnitude < 1e36 else { return nil }
        let (day, second) = Int128(seconds).quotientAndRemainder(flooringBy: 86_400)
        let (era, dayOfEra) = (day + Int128(Self.daysFromMarchOfYear0))
            .quotientAndRemainder(flooringBy: 146_097)
        let date = Self.civil(dayOfEra: Int64(dayOfEra))
        guard let year = Int64(exactly: era * 400 + Int128(date.year)) else { return nil }
        let secondOfDay = Int64(second)
        return CalendarParts(
            year: year, month: date.month, day: date.day, hour: secondOfDay / 3_600,
            minute: secondOfDay / 60 % 60, second: secondOfDay % 60)
    }
}
