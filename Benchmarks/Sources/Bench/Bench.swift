import FoundationEssentials
import Glibc
import LarderModel

/// The command that `scripts/bench` runs: measures Larder, and its peers beside it.
///
/// It takes where things are from the environment: LARDER_BIN_DIR has `larderd`,
/// LARDER_BENCH_PEERS the peers' programs, and is missing where only our own side is to run.
@main
struct Bench {
    static var measures: [any Measure] {
        [
            ServerSideCounting(), SlowNeighbour(), ReadLatency(), ReadRates(), Fetching(),
            Grouping(),
            Inserting(), BulkInserting(), ChangeSets(), ServerMemory(), Starting(), ReadGrowth(),
            RequestCosts(), QueryCosts(),
        ]
    }

    static func main() {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == RequestCosts.clientArgument {
                return try RequestCosts.runClient(Array(arguments.dropFirst()))
            }
            let options = try Options(arguments)
            let chosen = try options.chosen(of: measures)
            let environment = ProcessInfo.processInfo.environment
            let run = try Run(
                isQuick: options.isQuick, programs: environment["LARDER_BIN_DIR"] ?? "",
                peers: environment["LARDER_BENCH_PEERS"])
            for measure in chosen { try measure.measure(run) }
            if let path = options.json { try Report.write(run.rows, to: path) }
        } catch let problem as Problem {
            fail("bench: \(problem.sentence)", status: problem.status)
        } catch {
            fail("bench: \(error)", status: 1)
        }
    }

    private static func fail(_ sentence: String, status: Int32) -> Never {
        let line = Array((sentence + "\n").utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(status)
    }
}

/// Prints a line that is seen at once, also where the output is a pipe.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// A measure: one or several rows of the table, or a table of its own.
protocol Measure {
    var name: String { get }
    func measure(_ run: Run) throws
}

/// What went wrong, for the person who runs the bench.
struct Problem: Error {
    var sentence: String
    /// The exit status; 64 is usage.
    var status: Int32

    init(_ sentence: String, status: Int32 = 1) {
        self.sentence = sentence
        self.status = status
    }
}

/// `[--quick] [NAME] [--json FILE]`.
struct Options {
    var isQuick = false
    var name: String?
    var json: String?

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--quick" {
                isQuick = true
            } else if argument == "--json", let path = rest.popFirst() {
                json = path
            } else if !argument.hasPrefix("-"), name == nil {
                name = argument
            } else {
                throw Problem("usage: scripts/bench [--quick] [NAME] [--json FILE]", status: 64)
            }
        }
    }

    func chosen(of measures: [any Measure]) throws -> [any Measure] {
        guard let name else { return measures }
        let chosen = measures.filter { $0.name == name }
        if chosen.isEmpty {
            let names = measures.map(\.name).joined(separator: ", ")
            throw Problem("there is no measure \(name); there are \(names)", status: 64)
        }
        return chosen
    }
}
