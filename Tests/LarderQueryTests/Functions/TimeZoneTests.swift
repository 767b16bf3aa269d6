import Foundation
import LarderModel
import TestSupport
import Testing

@testable import LarderQuery

@Suite("Time zones of the operating system")
struct TimeZoneTests {
    private static let folder = "/usr/share/zoneinfo"

    private func file(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(filePath: "\(Self.folder)/\(name)")))
    }

    @Test("every time zone file of the machine can be read")
    func all() throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: Self.folder).filter {
            $0.first?.isUppercase ?? false
        }
        var count = 0
        for name in names {
            var isFolder = ObjCBool(false)
            let path = "\(Self.folder)/\(name)"
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
                !isFolder.boolValue
            else { continue }
            #expect(TimeZoneRules(file: try file(name)) != nil, "\(name)")
            count += 1
        }
        #expect(count > 100)
    }

    @Test("a damaged time zone file is rejected without a trap")
    func damaged() throws {
        var random = SeededGenerator.fromEnvironment("files of time zones")
        let original = try file("Europe/Berlin")
        for count in stride(from: 0, to: original.count, by: 7) {
            let zone = TimeZoneRules(file: Array(original.prefix(count)))
            #expect(zone == nil, "\(count) bytes")
        }
        // The last change is at the end of time.
        var late = original
        let header = try #require(
            original.indices.dropFirst(44).first {
                original[$0...].starts(with: "TZif".utf8)
            })
        let changeCount = original[(header + 32)..<(header + 36)].reduce(0) { $0 << 8 | Int($1) }
        let end = header + 44 + changeCount * 8
        late.replaceSubrange((end - 8)..<end, with: [0x7F] + [UInt8](repeating: 0xFF, count: 7))
        #expect(TimeZoneRules(file: late)?.period(at: 0).offset == 3_600)
        for _ in 0..<RandomTesting.iterations() {
            var bytes = original
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            guard let zone = TimeZoneRules(file: bytes) else { continue }
            for instant: Int128 in [-(1 << 100), -1, 0, 1 << 33, 1 << 100] {
                _ = zone.period(at: instant)
            }
        }
    }

    @Test(
        "the rule of a time zone for later years is the one that POSIX defines",
        arguments: [
            ("CET-1CEST,M3.5.0,M10.5.0/3", 2026, ["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"]),
            ("EST5EDT,M3.2.0,M11.1.0", 2026, ["2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"]),
            // The summer spans the turn of the year.
            (
                "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 2026,
                ["2026-04-04T15:00:00Z", "2026-10-03T15:30:00Z"]
            ),
            // The offset of the winter is the exception.
            (
                "IST-1GMT0,M10.5.0,M3.5.0/1", 2026,
                ["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"]
            ),
            // A negative time is on the day before.
            (
                "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 2026,
                ["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"]
            ),
            ("A0B,0/0,J60/0", 2024, []),
            ("AAA0BBB,0/0,J60/0", 2024, ["2024-01-01T00:00:00Z", "2024-02-29T23:00:00Z"]),
            ("AAA0BBB,59/0,J365/24", 2024, ["2024-02-29T00:00:00Z", "2024-12-31T23:00:00Z"]),
            ("<+03>-3", 2026, []), ("CET-1CEST", 2026, []), ("CET-1CEST,M3.5.0", 2026, []),
            ("CET-1CEST,M13.5.0,M10.5.0", 2026, []), ("CET-999", 2026, []), ("", 2026, []),
        ])
    func rules(text: String, year: Int64, expected: [String]) throws {
        let changes = TimeZoneRule(text: Array(text.utf8))?.changes(in: year) ?? []
        #expect(
            changes.map { Date(timeIntervalSinceReferenceDate: Double($0.start)).text } == expected)
    }

    // MARK: Unknown names

    @Test("unknown names never remove a known time zone from the cache, nor fill it")
    func unknownNames() {
        var cache = TimeZoneCache(unknownNamesMax: 3)
        var reads: [String] = []
        func rules(_ name: String) -> TimeZoneRules? {
            cache.rules(named: name) { name in
                reads.append(name)
                return name.hasPrefix("Known") ? .utc : nil
            }
        }
        #expect(rules("Known/A") != nil)
        for number in 0..<10 { #expect(rules("Nowhere/\(number)") == nil) }
        #expect(rules("Known/A") != nil)
        #expect(reads.count == 11)
        #expect(rules("Nowhere/9") == nil)
        #expect(reads.count == 11, "an unknown name is looked up once")
    }

    @Test("the names of the machine are listed once, however many unknown names there are")
    func listing() {
        var cache = TimeZoneCache(unknownNamesMax: 3)
        var listings = 0
        for _ in 0..<5 {
            let names = cache.names {
                listings += 1
                // The first time, the machine has none yet.
                return listings == 1 ? [] : ["America/Indiana/Knox", "Europe/Berlin"]
            }
            #expect(names.isEmpty == (listings == 1))
        }
        #expect(listings == 2)
    }

    @Test("a time zone is suggested by its ending, or by its whole name")
    func suggestions() {
        let names = TimeZoneNames(["America/Indiana/Knox", "Asia/Berlin", "Europe/Berlin"])
        #expect(names.hint(for: "berlin") == "did you mean \"Asia/Berlin\"?")
        #expect(names.hint(for: "KNOX") == "did you mean \"America/Indiana/Knox\"?")
        #expect(names.hint(for: "indiana/knox") == "did you mean \"America/Indiana/Knox\"?")
        #expect(names.hint(for: "Europe/Berlim") == "did you mean \"Europe/Berlin\"?")
        #expect(names.hint(for: "Nowhere/X") == nil)
    }
}
