import FoundationEssentials
import LarderClient
import LarderModel

/// The time from the start of the process, by socket activation, to its first reply.
struct Starting: Measure {
    let name = "start"

    func measure(_ run: Run) throws {
        let count = run.size(1_000_000, quick: 10_000)
        let store: String
        let student: PersistentIdentifier
        do {
            let server = try Server(run)
            let students = try Loader(client: try server.connect()).students(count)
            store = server.store
            student = students[count / 2]
        }
        let times = try (0..<run.size(15, quick: 3)).map { _ in
            let start = ContinuousClock.now
            let server = try Server(run, store: store)
            let found = try server.connect().object(for: student)
            defer { server.program.end() }
            guard found != nil else { throw Problem("an object is missing after a start") }
            return (ContinuousClock.now - start) / .milliseconds(1)
        }
        run.add(
            Report.Row(
                measure: "start to first reply, \(count) objects", unit: "ms",
                ours: times, goal: .atMost(60)))
    }
}
