import FoundationEssentials
import Glibc

/// One run of the bench: its scratch folder, its programs, and the rows it has measured.
final class Run {
    /// Small data and few rounds: shows that everything works, not how fast it is.
    let isQuick: Bool
    let folder: String
    private(set) var rows: [Report.Row] = []
    private let programs: String
    private let peers: String?

    init(isQuick: Bool, programs: String, peers: String?) throws {
        self.isQuick = isQuick
        self.programs = programs
        self.peers = peers
        let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(parent)/larder-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Problem("there is no scratch folder") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Rounds of each comparison, beside one that warms up.
    var rounds: Int { isQuick ? 2 : 7 }

    /// The full number, or the small one of a quick run.
    func size(_ full: Int, quick: Int) -> Int { isQuick ? quick : full }

    /// A path in the scratch folder that nothing else has.
    func path(_ name: String) -> String { "\(folder)/\(UUID().uuidString.prefix(8))-\(name)" }

    func program(_ name: String) -> String { "\(programs)/\(name)" }

    var hasPeers: Bool { peers != nil }

    /// Starts a peer's program; nil where only our own side runs.
    func peer(_ name: String, _ arguments: [String]) throws -> Peer? {
        guard let peers else { return nil }
        return try Peer("\(peers)/\(name)", arguments)
    }

    /// The processes of the servers that scripts/bench has started.
    var peersServers: [pid_t] {
        let list = ProcessInfo.processInfo.environment["LARDER_BENCH_SERVERS"] ?? ""
        return list.split(separator: " ").compactMap { pid_t($0) }
    }

    /// The variable that scripts/bench set to reach a peer's server.
    func variable(_ name: String) throws -> String {
        guard let value = ProcessInfo.processInfo.environment[name] else {
            throw Problem("\(name) is not set; run scripts/bench")
        }
        return value
    }

    /// Measures our side and the rivals in turns, and adds a row for each rival; or one row for us
    /// alone, where there is no rival or none was started.
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
            // Each round goes the other way round, so that no side always follows the same one.
            let places = round % 2 == 0 ? Array(sides.indices) : sides.indices.reversed()
            var checksums = [Int64](repeating: 0, count: sides.count)
            for place in places {
                let sample = try sides[place]()
                checksums[place] = sample.checksum
                if round > 0 { values[place].append(sample.value) }
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

    /// Adds a row, which is judged by its goal unless the run is a quick one and the row a time.
    func add(_ row: Report.Row, isCount: Bool = false) {
        var row = row
        if isQuick, !isCount { row.goal = nil }
        if rows.isEmpty { say(Report.head) }
        rows.append(row)
        say(Report.line(row))
    }
}

/// What one round of one side gave.
struct Sample {
    var value: Double
    /// What was computed; the same for all sides that were asked the same.
    var checksum: Int64
}

/// A peer in one comparison.
struct Rival {
    var name: String
    /// What the ratio of our value to its value is to be.
    var goal: Goal?
    /// nil where peers are not there.
    var measure: (() throws -> Sample)?

    init(_ name: String, _ goal: Goal? = nil, _ measure: (() throws -> Sample)?) {
        self.name = name
        self.goal = goal
        self.measure = measure
    }

    /// A peer's program that is asked one line.
    init(_ name: String, _ goal: Goal? = nil, _ peer: Peer?, _ command: String) {
        self.init(name, goal, peer.map { peer in { try peer.ask(command) } })
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
