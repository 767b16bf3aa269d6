import FoundationEssentials
import Glibc

/// One run of the bench: its scratch folder, its programs, and the rows it has measured.
final class Run {
    /// How much is measured.
    enum Scale {
        /// All data and all rounds.
        case full
        /// One of several runs that compare two builds of Larder: fewer rounds.
        case comparison
        /// Small data and few rounds: shows that everything works, and judges no time.
        case quick
    }

    let scale: Scale
    let folder: String
    private(set) var rows: [Report.Row] = []
    private let programs: String
    private let peers: String?
    private let isSilent: Bool
    private var hasPrintedHead = false

    /// - Parameters:
    ///   - programs: The folder of `larderd`.
    ///   - peers: The folder of the peers' programs; nil measures Larder alone.
    ///   - isSilent: Whether rows are only collected, and not printed.
    init(programs: String, peers: String?, scale: Scale, isSilent: Bool = false) throws {
        self.programs = programs
        self.peers = peers
        self.scale = scale
        self.isSilent = isSilent
        let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(parent)/larder-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Problem("a scratch folder cannot be created in \(parent)")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var isQuick: Bool { scale == .quick }

    /// Rounds of each comparison, in addition to a first one that warms up.
    var rounds: Int {
        switch scale {
        case .full: 7
        case .comparison: 3
        case .quick: 2
        }
    }

    /// The full number, or the small one of a quick run.
    func size(_ full: Int, quick: Int) -> Int { isQuick ? quick : full }

    /// A new path in the scratch folder.
    func path(_ name: String) -> String { "\(folder)/\(UUID().uuidString.prefix(8))-\(name)" }

    func program(_ name: String) -> String { "\(programs)/\(name)" }

    /// Starts a load generator, which needs no packages of peers.
    func driver(_ name: String, _ arguments: [String]) throws -> Peer {
        try Peer("\(variable("LARDER_BENCH_DRIVERS"))/\(name)", arguments)
    }

    var hasPeers: Bool { peers != nil }

    /// Starts a peer's program; nil if only Larder is measured.
    func peer(_ name: String, _ arguments: [String]) throws -> Peer? {
        guard let peers else { return nil }
        return try Peer("\(peers)/\(name)", arguments)
    }

    /// The program with models of SwiftData; nil if only Larder's client is measured.
    var models: String? { peers.map { "\($0)/models" } }

    /// The processes of the servers that scripts/bench has started.
    var peerServers: [pid_t] {
        let list = ProcessInfo.processInfo.environment["LARDER_BENCH_SERVERS"] ?? ""
        return list.split(separator: " ").compactMap { pid_t($0) }
    }

    /// A variable that scripts/bench sets.
    func variable(_ name: String) throws -> String {
        guard let value = ProcessInfo.processInfo.environment[name] else {
            throw Problem("\(name) is not set; run scripts/bench")
        }
        return value
    }

    /// Measures Larder and the rivals alternately, and adds a row for each rival; or one row for
    /// Larder alone if there is no rival or none was started.
    ///
    /// - Throws: `Problem` if two sides did not compute the same.
    func compare(
        _ measure: String, unit: String, rounds: Int? = nil, ours: @escaping () throws -> Sample,
        _ rivals: [Rival]
    ) throws {
        let rounds = rounds ?? self.rounds
        let sides = [ours] + rivals.compactMap(\.measure)
        let present = rivals.filter { $0.measure != nil }
        var values = [[Double]](repeating: [], count: sides.count)
        for round in 0...rounds {
            // The order alternates, so that no side always follows the same one.
            let order = round % 2 == 0 ? Array(sides.indices) : sides.indices.reversed()
            var checksums = [Int64](repeating: 0, count: sides.count)
            for side in order {
                let sample = try sides[side]()
                checksums[side] = sample.checksum
                if round > 0 { values[side].append(sample.value) }
            }
            for (rival, checksum) in zip(present, checksums.dropFirst())
            where checksum != checksums[0] {
                throw Problem(
                    "\(measure): \(rival.name) computed \(checksum), Larder \(checksums[0])")
            }
        }
        if present.isEmpty {
            add(Report.Row(measure: measure, unit: unit, ours: values[0]))
        }
        for (rival, theirs) in zip(present, values.dropFirst()) {
            add(
                Report.Row(
                    measure: measure, unit: unit, ours: values[0], peer: rival.name,
                    theirs: theirs, goal: rival.goal))
        }
    }

    /// Adds a row to the table. A quick run judges counts, and no times.
    func add(_ row: Report.Row, isCount: Bool = false) {
        record(row, isCount: isCount)
        guard !isSilent else { return }
        if !hasPrintedHead { printLine(Report.head) }
        hasPrintedHead = true
        if let row = rows.last { printLine(Report.line(row)) }
    }

    /// Adds a row that the table leaves out, since a table of the measure's own has it.
    func record(_ row: Report.Row, isCount: Bool = false) {
        var row = row
        if isQuick, !isCount { row.goal = nil }
        rows.append(row)
    }

    /// Prints a line of a measure's own table.
    func say(_ line: String) {
        if !isSilent { printLine(line) }
    }
}

/// The result of one round of one side.
struct Sample {
    var value: Double
    /// A checksum of the computed values; equal for all sides that answer the same question.
    var checksum: Int64
}

/// A peer in one comparison.
struct Rival {
    var name: String
    /// The goal for the ratio of Larder's value to the peer's.
    var goal: Goal?
    /// nil if peers are not measured.
    var measure: (() throws -> Sample)?

    init(_ name: String, _ goal: Goal? = nil, _ measure: (() throws -> Sample)?) {
        self.name = name
        self.goal = goal
        self.measure = measure
    }

    /// A peer's program that answers a command.
    init(_ name: String, _ goal: Goal? = nil, _ peer: Peer?, _ command: String) {
        self.init(name, goal, peer.map { peer in { try peer.sample(command) } })
    }
}

enum Goal {
    case atMost(Double)
    case atLeast(Double)

    func isMet(by value: Double) -> Bool {
        switch self {
        case .atMost(let bound): value <= bound
        case .atLeast(let bound): value >= bound
        }
    }
}
