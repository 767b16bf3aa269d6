import Glibc
import InputFuzzing
import TestSupport

/// `scripts/fuzz-requests`: sends random requests to a server, of users without limits or with
/// random rights, or passes changed inputs to the decoders and the planner, for a number of times.
/// It fails if the memory of the process grows.
///
///     FuzzRequests requests COUNT
///     FuzzRequests rights COUNT
///     FuzzRequests inputs COUNT
@main struct FuzzRequests {
    private static let usage = "usage: scripts/fuzz-requests requests|rights|inputs COUNT"
    /// Memory may grow by this between a tenth of the run and its end.
    private static let growthMax = 64 << 20
    /// So many different faults are printed, each with its first input.
    private static let faultsPrintedMax = 20

    static func main() throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count == 2, let count = Int(words[1]), count > 0 else { return fail(usage, 64) }
        let generator = SeededGenerator.fromEnvironment(words[0])
        switch words[0] {
        case "requests": try sendRequests(count, generator)
        case "rights": try checkRights(count, generator)
        case "inputs": try passInputs(count, generator)
        default: fail(usage, 64)
        }
    }

    private static func fail(_ message: String, _ status: Int32) {
        print(message)
        exit(status)
    }

    private static func sendRequests(_ count: Int, _ generator: SeededGenerator) throws {
        let fuzzer = try RequestFuzzer(generator)
        try inTenths(of: count) { done in
            try fuzzer.run(done)
            return "\(fuzzer.account)"
        }
    }

    /// The count is that of policies.
    private static func checkRights(_ count: Int, _ generator: SeededGenerator) throws {
        var generator = generator
        var account = RightsFuzzer.Account()
        try inTenths(of: count) { done in
            do {
                try RightsFuzzer.run(policies: done, &generator, &account)
            } catch {
                fail("\(error)", 1)
            }
            return "\(account)"
        }
    }

    /// Most inputs are messages, because these take a hundredth of the time of a predicate. A fault
    /// does not end the run, which looks for traps and growing memory too.
    private static func passInputs(_ count: Int, _ generator: SeededGenerator) throws {
        var generator = generator
        let kinds = try ["messages", "frames", "predicates"].compactMap { name in
            try FuzzedInputs.input(named: name).map { input in
                (name: name, input: input, corpus: try FuzzedInputs.corpus(name).map(\.bytes))
            }
        }
        var done = 0
        var faultCount = 0
        var faults: Set<String> = []
        try inTenths(of: count) { end in
            while done < end {
                done += 1
                let choice = Int.random(in: 0..<100, using: &generator)
                let kind = kinds[choice < 85 ? 0 : choice < 97 ? 1 : 2]
                let input = kind.corpus.randomElement(using: &generator) ?? []
                let donor = kind.corpus.randomElement(using: &generator) ?? []
                let bytes =
                    kind.name == "messages" && Bool.random(using: &generator)
                    ? MessageMutation.changed(input, using: &generator)
                    : Fuzzing.mutated(input, donor: donor, using: &generator)
                if let fault = kind.input.fault(of: bytes) {
                    faultCount += 1
                    if faults.count < faultsPrintedMax, faults.insert(fault).inserted {
                        print("\(kind.name): \(fault)\n\(bytes)")
                    }
                }
            }
            return "\(done) inputs, \(faultCount) faults"
        }
        if faultCount > 0 { fail("\(faultCount) inputs have a fault", 1) }
    }

    /// Calls the function ten times with what is to be done then, and compares the memory.
    private static func inTenths(
        of count: Int, _ body: (Int) throws -> String
    ) throws {
        let start = ContinuousClock.now
        var first: Int?
        for tenth in 1...10 {
            let state = try body(max(1, count / 10 * tenth + (tenth == 10 ? count % 10 : 0)))
            let memory = ResidentMemory.byteCount ?? 0
            print(
                "\((ContinuousClock.now - start).components.seconds) s, "
                    + "\(memory >> 20) MiB: \(state)")
            fflush(nil)
            if let first, memory > first + growthMax {
                fail("the memory has grown from \(first >> 20) to \(memory >> 20) MiB", 1)
            }
            first = first ?? memory
        }
    }
}
