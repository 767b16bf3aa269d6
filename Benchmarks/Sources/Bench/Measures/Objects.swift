/// Models of SwiftData beside records of GRDB and beside SQLite in C: 1,000 authors with 10 books
/// each.
///
/// `models` runs twice over one store file: the first process owns it, the second one joins it
/// through its socket.
struct Objects: Measure {
    let name = "objects"

    /// A round is short; with this number of rounds a disturbed one has little weight.
    private let rounds = 21

    private struct Row {
        let what: String
        let command: String
        /// The greatest ratios to GRDB's time: of the own store, and through the socket.
        var own: Goal?
        var joined: Goal?
    }

    func measure(_ run: Run) throws {
        guard let models = run.models else { return run.say("objects: only beside peers") }
        let authors = run.size(1_000, quick: 50)
        let (inserts, changes) = (authors * 10, authors)
        let path = run.path("shelf.store")
        let own = try Peer(models, [path])
        _ = try own.sample("load \(authors)")
        let joined = try Peer(models, [path])
        let grdb = try run.peer("grdb", [run.path("shelf-grdb.db")])
        _ = try grdb?.sample("load-shelf \(authors)")
        let sqlite = try run.peer("shelf", [run.path("shelf.db")])
        _ = try sqlite?.sample("load \(authors)")
        let rows = [
            Row(
                what: "fetch \(authors * 10) models", command: "fetch", own: .atMost(1.5),
                joined: .atMost(2)),
            Row(what: "read all their properties", command: "properties"),
            Row(what: "follow a to-many of \(authors) x 10", command: "follow"),
            Row(
                what: "save \(inserts) inserts", command: "insert \(inserts)", own: .atMost(1.5),
                joined: .atMost(2)),
            Row(
                what: "save \(changes) changes", command: "change \(changes)", own: .atMost(1.5),
                joined: .atMost(2)),
        ]
        let rounds = run.size(rounds, quick: 2)
        for row in rows {
            try run.compare(
                row.what, unit: "µs", rounds: rounds, ours: { try own.sample(row.command) },
                [
                    Rival("GRDB, records", row.own, grdb, row.command),
                    Rival("C on SQLite", nil, sqlite, row.command),
                ])
            try run.compare(
                row.what + ", through the socket", unit: "µs", rounds: rounds,
                ours: { try joined.sample(row.command) },
                [Rival("GRDB, records", row.joined, grdb, row.command)])
        }
        try measureObservation(run, own, joined)
        let reads = run.size(10_000_000, quick: 10_000)
        var times: [Double] = []
        for _ in 0..<rounds { times.append(try own.sample("read \(reads)").value) }
        run.add(
            Report.Row(
                measure: "read a property that did not change", unit: "ns", ours: times,
                goal: .atMost(45)))
    }

    /// From a change in one process, before its save, to Observation in another one: the save,
    /// which waits for the disk, and what follows it.
    private func measureObservation(_ run: Run, _ own: Peer, _ joined: Peer) throws {
        let changes = run.size(200, quick: 20)
        for (what, writer, watcher) in [
            ("a change saved by the owner is observed in another process", own, joined),
            ("a change saved through the socket is observed by the owner", joined, own),
        ] {
            var (times, saves): ([Double], [Double]) = ([], [])
            for _ in 0..<run.rounds {
                _ = try watcher.sample("watch")
                saves.append(try writer.sample("touch \(changes)").value)
                times.append(try watcher.sample("watched").value)
            }
            run.add(Report.Row(measure: what, unit: "µs", ours: times))
            run.add(Report.Row(measure: "of which for the save", unit: "µs", ours: saves))
            run.add(
                Report.Row(
                    measure: "of which after the save", unit: "µs",
                    ours: zip(times, saves).map { $0 - $1 }, goal: .atMost(1_000)))
        }
    }
}
