import FoundationEssentials
import LarderClient
import LarderModel

/// A change set of 1,000 changes: an insert, an update and a delete alternately.
struct ChangeSets: Measure {
    let name = "changes"

    func measure(_ run: Run) throws {
        let server = try Server(run)
        let client = try server.connect()
        let count = run.size(1_000, quick: 100)
        try run.compare(
            "change set of \(count) mixed changes", unit: "µs",
            ours: { try changes(client, count) },
            [
                Rival(
                    "PostgreSQL, pipelined in a transaction", .atMost(0.7),
                    try Postgres.peer(run, 1), "changes \(count)")
            ])
    }

    private func changes(_ client: StoreClient, _ count: Int) throws -> Sample {
        let existing = try Loader(client: client).students(count)
        let changes = (0..<count).map { number -> Change in
            switch number % 3 {
            case 0:
                .insert(
                    PersistentIdentifier(temporary: "t:\(number)", entityName: "Student"),
                    values: School.student(number + 1))
            case 1: .update(existing[number], ifVersion: nil, values: ["birthOfYear": 2_000])
            default: .delete(existing[number], ifVersion: nil)
            }
        }
        var result = SaveResult()
        let time = try microseconds { result = try client.save(ChangeSet(changes)) }
        let done = result.inserted.count + result.updatedVersions.count + Int(result.deletedCount)
        return Sample(value: time, checksum: Int64(done))
    }
}
