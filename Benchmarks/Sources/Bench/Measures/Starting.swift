import FoundationEssentials
import LarderClient
import LarderModel

/// From the start of the process, by socket activation, to the first answer.
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
            try microseconds {
                let server = try Server(run, store: store)
                guard try server.connect().object(for: student) != nil else {
                    throw Problem("an object is missing after a start")
                }
            } / 1_000
        }
        run.add(
            Report.Row(
                measure: "start to first answer, \(count) objects, and the stop", unit: "ms",
                ours: times, goal: .atMost(60)))
    }
}
