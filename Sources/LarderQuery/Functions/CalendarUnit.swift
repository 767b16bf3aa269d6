import LarderModel

/// A unit in which a calendar counts. The raw value is its name in format strings.
enum CalendarUnit: String, CaseIterable {
    case year, quarter, month, week, day, hour, minute, second

    /// Looks up a unit by name, ignoring case; nil for an unknown name.
    init?(_ name: String) {
        // The length of the longest name: most names need no copy in lower case.
        guard name.utf8.count <= 7 else { return nil }
        if let unit = Self(rawValue: name) ?? Self(rawValue: name.lowercased()) {
            self = unit
        } else {
            return nil
        }
    }

    /// - Throws: `malformedValue` for an unknown name, with the units in the hint.
    static func named(_ name: String) throws(LarderError) -> CalendarUnit {
        if let unit = CalendarUnit(name) { return unit }
        let names = allCases.map(\.rawValue)
        let isShort = name.utf8.count <= Limits.nameBytesMax
        throw LarderError(
            .malformedValue, isShort ? "unknown unit of time \"\(name)\"" : "unknown unit of time",
            hint: (isShort ? NameSuggestion.hint(for: name, among: names) : nil)
                ?? "the units are \(names.joined(separator: ", "))")
    }

    /// The length of a unit that is a fixed number of hours or less, in seconds; nil for others.
    var seconds: Int128? {
        switch self {
        case .second: 1
        case .minute: 60
        case .hour: 3_600
        case .year, .quarter, .month, .week, .day: nil
        }
    }
}
