import FoundationEssentials
import LarderModel
import Synchronization

/// The time zones of the machine, by their names in the IANA database: `Europe/Berlin`.
///
/// They are read from the files of the operating system, each when it is first used, and kept until
/// the process ends. `UTC` needs no file. Their names are listed once, at the first unknown name.
enum TimeZones {
    private static let folder = "/usr/share/zoneinfo"
    /// The longest name has 32 bytes.
    private static let nameBytesMax = 64
    /// Unknown names are cached too, since a property may contain them.
    private static let unknownNamesMax = 1_024
    private static let fileBytesMax = 1 << 20

    private static let cache = Mutex(TimeZoneCache(unknownNamesMax: unknownNamesMax))

    /// Returns a time zone; nil if the machine has none with this name.
    static func named(_ name: String) -> TimeZoneRules? {
        if name == "UTC" { return .utc }
        guard isName(name) else { return nil }
        return cache.withLock { $0.rules(named: name, read: read) }
    }

    /// - Throws: `malformedValue` for an unknown name; `unsupported` if the machine has no time
    ///   zones.
    static func check(_ name: String) throws(LarderError) {
        guard named(name) == nil else { return }
        let names = cache.withLock { $0.names(read: readNames) }
        guard !names.isEmpty else {
            throw LarderError(
                .unsupported, "the machine has no time zones in \(folder)",
                hint: "install the package tzdata, or use UTC")
        }
        let isShort = name.utf8.count <= nameBytesMax
        throw LarderError(
            .malformedValue, isShort ? "unknown time zone \"\(name)\"" : "unknown time zone",
            hint: (isShort ? names.hint(for: name) : nil)
                ?? "write a name of the IANA database, such as \"Europe/Berlin\"")
    }

    /// The names on this machine, without the folders that have all of them again.
    private static func readNames() -> [String] {
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
