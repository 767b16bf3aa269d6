import FoundationEssentials
import Glibc
import LarderClient
import LarderModel

/// Notes: texts, decimals and dates. Each value is computed from the number of a note, from 1;
/// `Peers/C/notes.h` computes the same.
enum Notes {
    static let schema = """
        { "version": "1.0.0",
          "entities": [
            { "name": "Note",
              "attributes": [
                { "name": "title", "type": "string" },
                { "name": "body", "type": "string" },
                { "name": "price", "type": "decimal" },
                { "name": "quantity", "type": "int64" },
                { "name": "created", "type": "date" } ] },
            { "name": "Category",
              "attributes": [ { "name": "name", "type": "string" } ] } ] }
        """

    private static let plainWords = [
        "order", "of", "things", "harbor", "the", "larder", "paper", "winter", "and", "letters",
        "from", "an", "island", "stone", "about", "weather",
    ]
    private static let mixedWords = [
        "über", "straße", "café", "naïve", "привет", "погода", "ελλάδα", "νησί", "日本語", "世界",
        "한국어", "letters", "winter", "😀", "señor", "ångström",
    ]

    private static func text(_ words: [String], _ number: Int) -> String {
        (0..<14).map { words[(number / 16 * (2 * $0 + 1) + number * 7 + $0 * $0) % words.count] }
            .joined(separator: " ")
    }

    static let properties = ["title", "body", "price", "quantity", "created"]

    static func row(_ number: Int) -> [Value] {
        [
            .string(text(plainWords, number)), .string(text(mixedWords, number)),
            .decimal(Decimal(number * 7_919 % 100_000) / 100), .int(Int64(number % 7 + 1)),
            .date(Date(timeIntervalSinceReferenceDate: Double(number * 1_047_291 % 630_720_000))),
        ]
    }
}

/// A server with notes, whose processor time is measured.
final class NoteServer {
    let client: StoreClient
    private let server: Server
    private let clock: clockid_t

    convenience init(_ run: Run, count: Int) throws {
        try self.init(run, schema: Notes.schema)
        _ = try client.insertAll(
            Insertion("Note"), properties: Notes.properties,
            rows: (1...count).lazy.map(Notes.row))
    }

    /// A server without objects.
    init(_ run: Run, schema: String) throws {
        server = try Server(run, schema: schema)
        client = try server.connect()
        var clock = clockid_t()
        guard clock_getcpuclockid(server.program.identifier, &clock) == 0 else {
            throw Problem("the server has no clock")
        }
        self.clock = clock
    }

    /// The time of all processors that the server has used, in microseconds.
    private var processorMicroseconds: Double {
        var used = timespec()
        clock_gettime(clock, &used)
        return Double(used.tv_sec) * 1e6 + Double(used.tv_nsec) / 1e3
    }

    /// The processor time of one query, which returns a number.
    func sample(_ query: (StoreClient) throws -> Int64) throws -> Sample {
        try School.commitUnrelatedChange(client)
        let start = processorMicroseconds
        let checksum = try query(client)
        return Sample(value: processorMicroseconds - start, checksum: checksum)
    }

    func count(_ predicate: String) throws -> Sample { try count("Note", predicate) }

    func count(_ entity: String, _ predicate: String) throws -> Sample {
        try sample { try $0.count(entity, where: predicate) }
    }

    /// The size of the store's file and its log.
    var storeBytes: Int {
        [server.store, server.store + "-wal"].reduce(0) { sum, path in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return sum + ((attributes?[.size] as? any BinaryInteger).map { Int($0) } ?? 0)
        }
    }

    /// An aggregate of all notes, times a number and without its fraction.
    func aggregate(
        _ function: AggregateFunction, _ expression: String, times scale: Decimal = 1
    ) throws -> Sample {
        try sample { client in
            let rows = try client.aggregate(
                "Note", [Aggregate.Column(function, expression, name: "result")])
            switch rows.first?.values.first {
            case .decimal(let decimal)?:
                return (decimal * scale).description.split(separator: ".").first
                    .flatMap { Int64($0) } ?? 0
            case .double(let double)?: return Int64(double)
            default: return 0
            }
        }
    }
}
