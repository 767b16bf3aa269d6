import FoundationEssentials
import Synchronization

/// The time zones of the machine, by their names in the IANA database: `Europe/Berlin`.
///
/// They are read from the files of the operating system, each when it is first used, and kept until
/// the process ends. `UTC` needs no file.
enum TimeZones {
    private static let folder = "/usr/share/zoneinfo"
    /// The longest name has 32 bytes.
    private static let nameBytesMax = 64
    /// More than a machine has. Unknown names are cached too, since a property may contain them.
    private static let cachedNamesMax = 1_024
    private static let fileBytesMax = 1 << 20

    private static let cache = Mutex<[String: TimeZoneRules?]>([:])

    /// Returns a time zone; nil if the machine has none with this name.
    static func named(_ name: String) -> TimeZoneRules? {
        if name == "UTC" { return .utc }
        guard isName(name) else { return nil }
        return cache.withLock { cache in
            if let known = cache[name] { return known }
            let read = read(name)
            if cache.count >= cachedNamesMax { cache.removeAll() }
            cache.updateValue(read, forKey: name)
            return read
        }
    }

    /// - Throws: `malformedValue` for an unknown name; `unsupported` if the machine has no time
    ///   zones.
    static func check(_ name: String) throws(LarderError) {
        guard named(name) == nil else { return }
        let names = names
        guard !names.isEmpty else {
            throw LarderError(
                .unsupported, "the machine has no time zones in \(folder)",
                hint: "install the package tzdata, or use UTC")
        }
        let isShort = name.utf8.count <= nameBytesMax
        let place = name.lowercased()
        let ending = isShort ? names.first { $0.lowercased().hasSuffix("/\(place)") } : nil
        throw LarderError(
            .malformedValue, isShort ? "unknown time zone \"\(name)\"" : "unknown time zone",
            hint: ending.map { "did you mean \"\($0)\"?" }
                ?? (isShort ? NameSuggestion.hint(for: name, among: names) : nil)
                ?? "write a name of the IANA database, such as \"Europe/Berlin\"")
    }

    /// The names on this machine, without the folders that have all of them again.
    private static var names: [String] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return paths.filter { path in
            path.utf8.first.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 } ?? false
        }.sorted()
    }

    /// Whether the text can be the name of a time zone, and never names a file elsewhere.
    private static func isName(_ name: String) -> Bool {
        guard 1...nameBytesMax ~= name.utf8.count,
            let first = name.utf8.first, UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first
        else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "_"),
                UInt8(ascii: "-"), UInt8(ascii: "+"):
                true
            default: false
            }
        }
    }

    private static func read(_ name: String) -> TimeZoneRules? {
        guard let file = FileManager.default.contents(atPath: "\(folder)/\(name)"),
            file.count <= fileBytesMax
        else { return nil }
        return TimeZoneRules(file: Array(file))
    }
}
