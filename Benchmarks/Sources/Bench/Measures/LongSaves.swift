/// Saves that are longer than a frame of the protocol, by models of SwiftData through the owner of
/// their file, beside one transaction of GRDB: 1,000,000 small objects, and 1 GiB of values. The
/// memory is the most that the process has had, with the objects of the context.
struct LongSaves: Measure {
    let name = "long-saves"

    func measure(_ run: Run) throws {
        guard let models = run.models else { return run.say("long-saves: only beside peers") }
        let saves = [
            ("save \(run.size(1_000_000, quick: 30_000)) inserts", "insert", 1_000_000, 30_000),
            ("save \(run.size(1_024, quick: 20)) MiB of values", "scans", 1_024, 20),
        ]
        for (what, command, size, quick) in saves {
            let count = run.size(size, quick: quick)
            let rounds = run.isQuick ? 1 : 3
            // A process for each, because memory that was used is counted for ever.
            let own = try Peer(models, [run.path("\(command).store")])
            let grdb = try run.peer("grdb", [run.path("\(command).db")])
            _ = try grdb?.sample("load-shelf 1")
            try run.compare(
                what, unit: "µs", rounds: rounds,
                ours: { try own.sample("\(command) \(count)") },
                [Rival("GRDB", nil, grdb, "\(command) \(count)")])
            try run.compare(
                what + ", memory", unit: "MiB", rounds: 1, ours: { try own.sample("memory") },
                [Rival("GRDB", nil, grdb, "memory")])
        }
    }
}
