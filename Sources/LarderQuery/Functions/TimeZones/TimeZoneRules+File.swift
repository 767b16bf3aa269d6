import LarderModel

// The format of compiled time zones, RFC 9636: a header, the changes with 32 bits, a second header,
// the same with 64 bits, and the rule for later years between two line feeds.

extension TimeZoneRules {
    /// The number of changes and of offsets; real zones have some 250 and 20.
    private static let changesMax = 10_000

    /// Decodes the file of a time zone; nil for any other content.
    package init?(file: [UInt8]) {
        var reader = FileReader(rest: file[...])
        // Files without 64-bit changes are older than version 2, of 2005.
        guard let short = reader.header(), short.version >= UInt8(ascii: "2"),
            reader.skip(short.byteCount(ofTimes: 4)), let header = reader.header(),
            // Leap seconds would have to be removed from all instants.
            header.leapCount == 0, header.changeCount <= Self.changesMax, header.typeCount > 0,
            let starts = reader.instants(header.changeCount),
            let types = reader.bytes(header.changeCount),
            let offsets = reader.offsets(header.typeCount),
            types.allSatisfy({ Int($0) < offsets.count }),
            zip(starts, starts.dropFirst()).allSatisfy({ $0 < $1 }),
            reader.skip(header.byteCountAfterTypes), let text = reader.line()
        else { return nil }
        let rule = TimeZoneRule(text: text)
        guard rule != nil || text.isEmpty else { return nil }
        self.init(
            initialOffset: offsets[0], starts: starts, offsets: types.map { offsets[Int($0)] },
            rule: rule)
    }

    private struct Header {
        var version: UInt8
        /// The counts of UT indicators, standard indicators, leap seconds, changes, types and
        /// characters of abbreviations.
        var counts: [Int]

        var leapCount: Int { counts[2] }
        var changeCount: Int { counts[3] }
        var typeCount: Int { counts[4] }
        var byteCountAfterTypes: Int { counts[5] + counts[1] + counts[0] }

        func byteCount(ofTimes size: Int) -> Int {
            changeCount * (size + 1) + typeCount * 6 + leapCount * (size + 4) + byteCountAfterTypes
        }
    }

    private struct FileReader {
        /// Seconds from 1970 to 2001.
        private static let epoch: Int64 = 978_307_200

        var rest: ArraySlice<UInt8>

        mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
            guard count <= rest.count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }

        mutating func skip(_ count: Int) -> Bool { bytes(count) != nil }

        mutating func header() -> Header? {
            guard let name = bytes(4), Array(name) == Array("TZif".utf8), let version = bytes(1),
                skip(15)
            else { return nil }
            var counts: [Int] = []
            for _ in 0..<6 {
                guard let count = bytes(4) else { return nil }
                counts.append(count.reduce(0) { $0 << 8 | Int($1) })
            }
            return Header(version: version.first ?? 0, counts: counts)
        }

        /// Reads instants in seconds from 1970. One before the formation of the earth means the
        /// beginning of time. The bound leaves room for the arithmetic of a rule.
        mutating func instants(_ count: Int) -> [Int64]? {
            bytes(count * 8).map { bytes in
                stride(from: bytes.startIndex, to: bytes.endIndex, by: 8).map { index in
                    let bits = bytes[index..<index + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                    return min(max(Int64(bitPattern: bits), -(1 << 59)), 1 << 59) - Self.epoch
                }
            }
        }

        /// Reads the types of local time, of which only the offset is used.
        mutating func offsets(_ count: Int) -> [Int]? {
            bytes(count * 6).map { bytes in
                stride(from: bytes.startIndex, to: bytes.endIndex, by: 6).map { index in
                    let bits = bytes[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                    return Int(Int32(bitPattern: bits))
                }
            }
        }

        /// Reads the text between two line feeds; nil if there is none.
        mutating func line() -> ArraySlice<UInt8>? {
            guard bytes(1)?.first == UInt8(ascii: "\n") else { return nil }
            return rest.firstIndex(of: UInt8(ascii: "\n")).map { rest[..<$0] }
        }
    }
}
