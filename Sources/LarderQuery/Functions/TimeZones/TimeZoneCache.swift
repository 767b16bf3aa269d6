import LarderModel

/// The time zones of the machine that the process has read.
///
/// Names come from clients. So an unknown name costs no more than a failed look-up, whatever number
/// of them a client invents, and never removes a known time zone.
struct TimeZoneCache: Sendable {
    private let unknownNamesMax: Int
    /// At most as many as the machine has.
    private var known: [String: TimeZoneRules] = [:]
    private var unknown: Set<String> = []
    private var names = TimeZoneNames([])

    init(unknownNamesMax: Int) { self.unknownNamesMax = unknownNamesMax }

    /// Returns a time zone; nil if there is none with this name.
    ///
    /// - Parameter read: Reads the file of a time zone.
    mutating func rules(
        named name: String, read: (String) -> TimeZoneRules?
    ) -> TimeZoneRules? {
        if let rules = known[name] { return rules }
        if unknown.contains(name) { return nil }
        if let rules = read(name) {
            known[name] = rules
            return rules
        }
        if unknown.count >= unknownNamesMax { unknown.removeAll() }
        unknown.insert(name)
        return nil
    }

    /// The names of all time zones. They are listed again only while the machine has none.
    mutating func names(read: () -> [String]) -> TimeZoneNames {
        if names.isEmpty { names = TimeZoneNames(read()) }
        return names
    }
}

/// The names of the machine's time zones, for hints.
struct TimeZoneNames: Sendable {
    private let names: [String]
    /// The first name with each ending after a slash, in lower case: `berlin`, `indiana/knox`.
    private let namesByEnding: [String: String]

    /// - Parameter names: In ascending order.
    init(_ names: [String]) {
        self.names = names
        var namesByEnding: [String: String] = [:]
        for name in names {
            var ending = name.lowercased()[...]
            while let slash = ending.firstIndex(of: "/") {
                ending = ending[ending.index(after: slash)...]
                let key = String(ending)
                if namesByEnding[key] == nil { namesByEnding[key] = name }
            }
        }
        self.namesByEnding = namesByEnding
    }

    var isEmpty: Bool { names.isEmpty }

    /// The time zone that a name may mean; nil if none is similar.
    func hint(for name: String) -> String? {
        namesByEnding[name.lowercased()].map { "did you mean \"\($0)\"?" }
            ?? NameSuggestion.hint(for: name, among: names)
    }
}
