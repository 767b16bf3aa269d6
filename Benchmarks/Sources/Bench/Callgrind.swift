import FoundationEssentials
import Glibc

/// Counts what a program does, by valgrind's callgrind: the same for the same input, however busy
/// the machine is.
///
/// Programs are run without what they have for debuggers, at which valgrind of Debian 12 gives up.
enum Callgrind {
    /// What was done: instructions executed, and allocations made.
    struct Counts {
        var instructions: Double = 0
        var allocations: Double = 0

        static func - (left: Counts, right: Counts) -> Counts {
            Counts(
                instructions: left.instructions - right.instructions,
                allocations: left.allocations - right.allocations)
        }

        static func / (left: Counts, right: Double) -> Counts {
            Counts(
                instructions: left.instructions / right, allocations: left.allocations / right)
        }
    }

    /// Hashing that is the same in each run.
    static let environment = ["SWIFT_DETERMINISTIC_HASHING": "1"]

    /// The command that runs a program and leaves its counts in a file when it ends, and in the
    /// file with a number behind it when it is told to.
    static func command(_ program: String, output: String) -> [String] {
        ["/usr/bin/valgrind", "--tool=callgrind", "--callgrind-out-file=\(output)", "-q", program]
    }

    /// A copy of a program that valgrind can run.
    static func stripped(_ program: String, _ run: Run) throws -> String {
        let copy = run.path("stripped")
        try finish(Program("/usr/bin/strip", ["-g", program, "-o", copy]), "strip")
        return copy
    }

    /// Makes a program that runs write down what it has done since it was told so last.
    static func dump(_ program: Program) throws {
        try finish(
            Program(
                "/usr/bin/callgrind_control", ["-d", String(program.identifier)],
                descriptors: [nil, nil, nil]), "callgrind_control")
    }

    static func finish(_ program: Program, _ name: String) throws {
        let status = program.finish()
        guard status == 0 else { throw Problem("\(name) ended with \(status)") }
    }

    /// Reads a file of counts, whose lines are `totals: N`, and, for each call, `cfn=(ID) NAME`, the
    /// name only the first time, with `calls=N …` behind it.
    static func counts(in path: String) throws -> Counts {
        var counts = Counts()
        var allocators: Set<Substring> = []
        var callee: Substring = ""
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for line in text.utf8.split(separator: UInt8(ascii: "\n")).lazy.map(Substring.init) {
            if line.hasPrefix("cfn=") || line.hasPrefix("fn=") {
                let words = line.drop { $0 != "(" }.split(separator: " ", maxSplits: 1)
                if words.count == 2, allocatorNames.contains(words[1]) {
                    allocators.insert(words[0])
                }
                if line.hasPrefix("cfn="), let word = words.first { callee = word }
            } else if line.hasPrefix("calls="), allocators.contains(callee) {
                let number = line.dropFirst(6).prefix { $0 != " " }
                counts.allocations += Double(number) ?? 0
            } else if line.hasPrefix("totals: ") {
                counts.instructions = Double(line.dropFirst(8)) ?? 0
            }
        }
        guard counts.instructions > 0 else { throw Problem("\(path) has no counts") }
        return counts
    }

    private static let allocatorNames: Set<Substring> = [
        "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc",
    ]
}
