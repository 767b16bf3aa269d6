import FoundationEssentials
import LarderModel

// Functions of dates. All arithmetic is on integers; a time zone only adds its offset from UTC.

extension ScalarFunction {
    /// Returns the value of a function of dates; nil for operands of other types and for an unknown
    /// unit or time zone.
    func calendarValue(_ operands: [Value]) -> Value {
        guard case .date(let date)? = operands.first, let instant = date.wholeSeconds else {
            return .null
        }
        switch self {
        case .startOf:
            guard let unit = Self.unit(operands[1]), let zone = Self.zone(operands, at: 2) else {
                return .null
            }
            let start = zone.start(of: unit, at: instant.seconds)
            return .date(Date(timeIntervalSinceReferenceDate: Double(start)))
        case .distance:
            guard case .date(let other) = operands[1], let end = other.wholeSeconds,
                let unit = Self.unit(operands[2]), let zone = Self.zone(operands, at: 3)
            else { return .null }
            let units =
                date <= other
                ? zone.units(unit, from: instant, to: end)
                : -zone.units(unit, from: end, to: instant)
            return Int64(exactly: units).map { .int($0) } ?? .null
        default:
            guard let zone = Self.zone(operands, at: 1) else { return .null }
            return part(zone.local(instant.seconds)).map { .int($0) } ?? .null
        }
    }

    /// Returns the number of seconds between two dates, or of whole units.
    func distance(_ operands: [Value]) -> Value {
        guard operands.count == 2 else { return calendarValue(operands) }
        guard case (.date(let start), .date(let end)) = (operands[0], operands[1]) else {
            return .null
        }
        return .checked(end.timeIntervalSinceReferenceDate - start.timeIntervalSinceReferenceDate)
    }

    /// Returns a part of a date in UTC, such as the year; nil for other functions, and if the year
    /// exceeds 64 bits.
    package func part(of date: Date) -> Int64? {
        date.wholeSeconds.flatMap { part(LocalTime(seconds: $0.seconds)) }
    }

    private func part(_ time: LocalTime) -> Int64? {
        // A year outside 64 bits has no other parts either.
        if time.seconds.magnitude > Self.usualSecondsMax, Int64(exactly: time.date.year) == nil {
            return nil
        }
        switch self {
        case .year: return Int64(time.date.year)
        case .month: return time.date.month
        case .day: return time.date.day
        case .hour: return time.secondOfDay / 3_600
        case .minute: return time.secondOfDay / 60 % 60
        case .second: return time.secondOfDay % 60
        case .weekday: return time.weekday
        default: return nil
        }
    }

    /// Their years have 64 bits.
    private static let usualSecondsMax: UInt128 = 1 << 63

    private static func unit(_ operand: Value) -> CalendarUnit? {
        if case .string(let name) = operand { CalendarUnit(name) } else { nil }
    }

    /// UTC without the operand.
    private static func zone(_ operands: [Value], at index: Int) -> TimeZoneRules? {
        guard index < operands.count else { return .utc }
        return if case .string(let name) = operands[index] { TimeZones.named(name) } else { nil }
    }
}

extension TimeZoneRules {
    /// The time that clocks show at an instant in seconds from 2001.
    func local(_ instant: Int128) -> LocalTime {
        LocalTime(seconds: instant + Int128(period(at: instant).offset))
    }

    /// The first instant of the unit that an instant is in, in seconds from 2001.
    func start(of unit: CalendarUnit, at instant: Int128) -> Int128 {
        let offset = Int128(period(at: instant).offset)
        let start = LocalTime(seconds: instant + offset).start(of: unit)
        // Parts of a day are counted on the clock that is in use: an hour that clocks show twice
        // begins twice.
        return unit.seconds == nil ? self.instant(of: start) : start.seconds - offset
    }

    /// The first instant at which clocks show a time, or a later one if they skip it.
    private func instant(of local: LocalTime) -> Int128 {
        // Clocks change at most once within a day.
        let before = period(at: local.seconds - LocalTime.daySeconds).offset
        let early = local.seconds - Int128(before)
        let (start, offset) = period(at: early)
        if offset == before { return early }
        let late = local.seconds - Int128(offset)
        // If clocks skip the time, the unit begins with the change.
        return max(late, start ?? late)
    }

    /// The number of whole units between two instants, of which the first is not the later one.
    func units(
        _ unit: CalendarUnit, from start: (seconds: Int128, fraction: Double),
        to end: (seconds: Int128, fraction: Double)
    ) -> Int128 {
        let isPartial = end.fraction < start.fraction
        if let length = unit.seconds {
            return (end.seconds - start.seconds - (isPartial ? 1 : 0)) / length
        }
        let (from, to) = (local(start.seconds), local(end.seconds))
        // Clocks that are set back may show an earlier time at the later instant.
        let seconds = max(0, to.seconds - from.seconds - (isPartial ? 1 : 0))
        switch unit {
        case .day: return seconds / LocalTime.daySeconds
        case .week: return seconds / (7 * LocalTime.daySeconds)
        default: break
        }
        let (first, last) = (from.date, to.date)
        var months = (last.year - first.year) * 12 + Int128(last.month - first.month)
        // A month is complete when its day and its time of day are reached again.
        let reached = (last.day, to.secondOfDay, end.fraction)
        if reached < (first.day, from.secondOfDay, start.fraction) { months -= 1 }
        months = max(0, months)
        return unit == .month ? months : months / (unit == .quarter ? 3 : 12)
    }
}
