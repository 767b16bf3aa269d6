import FoundationEssentials
import Glibc

/// Counts instructions and allocations of a program with valgrind's callgrind. The counts are the
/// same for the same input, however busy the machine is.
///
/// Programs run without their debug information, which valgrind of Debian 12 cannot read.
enum Callgrind {
    struct Counts {
        var instructions: Double = 0
        var allocations: Double = 0

        static func - (left: Counts, right: Counts) -> Counts {
            Counts(
                instructions: left.instructions - right.instructions,
                allocations: left.allocations - right.allocations)
        }

        static func least(_ left: Counts, _ right: Counts) -> Counts {
            Counts(
                instructions: min(left.instructions, right.instructions),
                allocations: min(left.allocations, right.allocations))
        }

        static func / (left: Counts, right: Double) -> Counts {
            Counts(
                instructions: left.instructions / right, allocations: left.allocations / right)
        }
    }

    /// Makes hashing the same in each run.
    static let environment = ["SWIFT_DETERMINISTIC_HASHING": "1"]

    /// The command that runs a program and writes its counts to a file when it ends. A dump on
    /// request goes to that file's name with a number appended.
    static func command(_ program: String, output: String) -> [String] {
        ["/usr/bin/valgrind", "--tool=callgrind", "--callgrind-out-file=\(output)", "-q", program]
    }

    /// A copy of a program that valgrind can run.
    static func stripped(_ program: String, _ run: Run) throws -> String {
        let copy = run.path("stripped")
        try finish(Program("/usr/bin/strip", ["-g", program, "-o", copy]), "strip")
        return copy
    }

    /// Makes a running program write its counts since the last dump.
    static func dump(_ program: Program) throws {
        try finish(
            Program(
                "/usr/bin/callgrind_control", ["-d", String(program.identifier)],
                descriptors: [nil, nil, nil]), "callgrind_control")
    }

    static func finish(_ program: Program, _ name: String) throws {
        let status = program.finish()
        guard status == 0 else { throw Problem("\(name) ended with status \(status)") }
    }

    /// Reads a file of counts. Its lines are `totals: N`, and for each call `cfn=(ID) NAME`, with
    /// the name only the first time, followed by `calls=N …`.
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
