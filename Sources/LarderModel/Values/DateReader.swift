/// Parses the parts of an ISO 8601 date, checking only the length of months.
struct DateReader {
    struct Instant {
        var year: Int64
        var month: Int64
        var day: Int64
        /// Seconds from midnight UTC, which may lie on another day because of the offset.
        var secondOfDay: Int64 = 0
        /// The digits after the decimal point of the second.
        var fraction: [UInt8] = []
    }

    var rest: ArraySlice<UInt8>

    /// Parses the whole text; nil if it is not a date.
    ///
    /// - Parameter assumesUTC: Whether a time without an offset is in UTC.
    mutating func instant(assumesUTC: Bool) -> Instant? {
        guard let year = number(digits: 4), skip("-"),
            let month = number(digits: 2), (1...12).contains(month), skip("-"),
            let day = number(digits: 2), (1...Self.daysIn(month, of: year)).contains(day)
        else { return nil }
        var instant = Instant(year: year, month: month, day: day)
        if rest.isEmpty { return instant }
        guard skip("T") || skip("t") || skip(" "),
            let hour = number(digits: 2), hour < 24, skip(":"),
            let minute = number(digits: 2), minute < 60
        else { return nil }
        instant.secondOfDay = hour * 3_600 + minute * 60
        if skip(":") {
            guard let second = number(digits: 2), second < 60 else { return nil }
            instant.secondOfDay += second
            if skip(".") || skip(",") {
                instant.fraction = Array(rest.prefix { $0.isASCIIDigit })
                rest = rest.dropFirst(instant.fraction.count)
                // No shortest text of a Double has more digits.
                guard (1...400).contains(instant.fraction.count) else { return nil }
            }
        }
        if rest.isEmpty, assumesUTC { return instant }
        guard let offset = offset(), rest.isEmpty else { return nil }
        instant.secondOfDay -= offset
        return instant
    }

    /// Parses `Z`, `+02:00`, `+0200` or `+02`, in seconds.
    private mutating func offset() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let isWest = rest.first == UInt8(ascii: "-")
        guard skip("+") || skip("-"), let hours = number(digits: 2), hours < 24 else { return nil }
        var seconds = hours * 3_600
        if !rest.isEmpty {
            _ = skip(":")
            guard let minutes = number(digits: 2), minutes < 60 else { return nil }
            seconds += minutes * 60
        }
        return isWest ? -seconds : seconds
    }

    private mutating func number(digits count: Int) -> Int64? {
        guard rest.count >= count else { return nil }
        var number: Int64 = 0
        for byte in rest.prefix(count) {
            guard byte.isASCIIDigit else { return nil }
            number = number * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        rest = rest.dropFirst(count)
        return number
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func daysIn(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}
