import FoundationEssentials
import LarderModel

/// A time in whole seconds from 2001-01-01T00:00:00, as the clocks of a time zone show it, in the
/// proleptic Gregorian calendar.
struct LocalTime: Comparable {
    static let daySeconds: Int128 = 86_400

    var seconds: Int128

    var day: Int128 { seconds.quotientAndRemainder(flooringBy: Self.daySeconds).quotient }

    var secondOfDay: Int64 {
        Int64(seconds.quotientAndRemainder(flooringBy: Self.daySeconds).remainder)
    }

    /// 1 for Monday, as 2001-01-01 was, to 7 for Sunday.
    var weekday: Int64 { Int64(day.quotientAndRemainder(flooringBy: 7).remainder) + 1 }

    /// The months and days from 1.
    var date: (year: Int128, month: Int64, day: Int64) {
        let (era, dayOfEra) = (day + Int128(Date.daysFromMarchOfYear0))
            .quotientAndRemainder(flooringBy: 146_097)
        let date = Date.civil(dayOfEra: Int64(dayOfEra))
        return (era * 400 + Int128(date.year), date.month, date.day)
    }

    /// The first second of the unit that the time is in. Weeks begin on Monday.
    func start(of unit: CalendarUnit) -> LocalTime {
        switch unit {
        case .second, .minute, .hour:
            let length = unit.seconds ?? 1
            return LocalTime(
                seconds: seconds - seconds.quotientAndRemainder(flooringBy: length).remainder)
        case .day: return LocalTime(seconds: day * Self.daySeconds)
        case .week:
            return LocalTime(seconds: (day - Int128(weekday - 1)) * Self.daySeconds)
        case .month, .quarter, .year:
            let (year, month, _) = date
            let first: Int64 =
                switch unit {
                case .month: month
                case .quarter: month - (month - 1) % 3
                default: 1
                }
            let day = Date.dayFrom2001(year: year, month: Int128(first), day: 1)
            return LocalTime(seconds: day * Self.daySeconds)
        }
    }

    static func < (left: LocalTime, right: LocalTime) -> Bool { left.seconds < right.seconds }
}

extension Date {
    /// The whole seconds from 2001 and the fraction, which is not negative. Nil for a date that is
    /// not finite or whose year exceeds 64 bits by far.
    var wholeSeconds: (seconds: Int128, fraction: Double)? {
        let whole = timeIntervalSinceReferenceDate.rounded(.down)
        // The bound keeps the seconds within 128 bits and is far beyond the last year of 64 bits.
        guard whole.magnitude < 1e36 else { return nil }
        // The conversion to 128 bits takes longer than all that follows.
        let seconds = whole.magnitude < 1e18 ? Int128(Int64(whole)) : Int128(whole)
        return (seconds, timeIntervalSinceReferenceDate - whole)
    }
}
