import FoundationEssentials
import Glibc
import LarderModel

/// The command that `scripts/bench` runs: measures Larder and its peers in one run, or two builds
/// of Larder against each other.
///
/// The environment names the programs: LARDER_BIN_DIR has `larderd`, LARDER_BENCH_DRIVERS the load
/// generators, LARDER_BENCH_PEERS the peers. Without the last one only Larder is measured.
@main
struct Bench {
    static var measures: [any Measure] {
        [
            ServerSideCounting(), SlowNeighbour(), ReadLatency(), ReadRates(), Fetching(),
            Grouping(), TextSearch(), IndexedSearch(), NumbersAndDates(), Inserting(),
            BulkInserting(), ChangeSets(),
            ServerMemory(), Starting(), ReadGrowth(), FeedDelivery(), YCSB(), RequestCosts(),
            QueryCosts(), Objects(), LongSaves(),
        ]
    }

    static func main() {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == RequestCosts.clientArgument {
                return try RequestCosts.runClient(Array(arguments.dropFirst()))
            }
            if arguments.first == FeedSubscribers.argument {
                return try FeedSubscribers(Array(arguments.dropFirst())).run()
            }
            let options = try Options(arguments)
            let chosen = try options.chosen(from: measures)
            let environment = ProcessInfo.processInfo.environment
            let programs = environment["LARDER_BIN_DIR"] ?? ""
            let rows: [Report.Row]
            if let baseline = options.baseline {
                rows = try BuildComparison(
                    programs: programs, baseline: baseline, isQuick: options.isQuick
                ).measure(chosen)
            } else {
                let run = try Run(
                    programs: programs, peers: environment["LARDER_BENCH_PEERS"],
                    scale: options.isQuick ? .quick : .full)
                for measure in chosen { try measure.measure(run) }
                rows = run.rows
            }
            if let path = options.json { try Report.write(rows, to: path) }
        } catch let problem as Problem {
            fail("bench: \(problem.message)", status: problem.status)
        } catch {
            fail("bench: \(error)", status: 1)
        }
    }

    static func fail(_ message: String, status: Int32) -> Never {
        let line = Array((message + "\n").utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(status)
    }
}

/// Prints a line at once, also if the output is a pipe.
func printLine(_ line: String) {
    print(line)
    fflush(nil)
}

/// A measure: one or several rows of the table, or a table of its own.
protocol Measure {
    var name: String { get }
    /// Whether each run has the same results, so that one is enough.
    var isDeterministic: Bool { get }
    func measure(_ run: Run) throws
}

extension Measure {
    var isDeterministic: Bool { false }
}

/// An error for the person who runs the bench.
struct Problem: Error {
    var message: String
    /// The exit status; 64 is wrong usage.
    var status: Int32

    init(_ message: String, status: Int32 = 1) {
        self.message = message
        self.status = status
    }
}

/// `[--quick] [--against DIR] [--json FILE] [NAME…]`.
struct Options {
    var isQuick = false
    /// The programs of another build, to compare with.
    var baseline: String?
    var json: String?
    var names: [String] = []

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--quick" {
                isQuick = true
            } else if argument == "--against", let path = rest.popFirst() {
                baseline = path
            } else if argument == "--json", let path = rest.popFirst() {
                json = path
            } else if !argument.hasPrefix("-") {
                names.append(argument)
            } else {
                throw Problem(
                    "usage: scripts/bench [--quick] [--own] [--against DIR] [--json FILE] [NAME…]",
                    status: 64)
            }
        }
    }

    func chosen(from measures: [any Measure]) throws -> [any Measure] {
        if let unknown = names.first(where: { name in !measures.contains { $0.name == name } }) {
            let known = measures.map(\.name).joined(separator: ", ")
            throw Problem(
                "there is no measure `\(unknown)`; the measures are \(known)", status: 64)
        }
        return names.isEmpty ? measures : measures.filter { names.contains($0.name) }
    }
}
