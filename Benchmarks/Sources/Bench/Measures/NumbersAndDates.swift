import FoundationEssentials
import LarderClient
import LarderModel

/// Decimals next to SQLite's doubles and PostgreSQL's numeric, and parts of dates next to SQLite's
/// strftime: processor time over all objects.
struct NumbersAndDates: Measure {
    let name = "decimals"

    func measure(_ run: Run) throws {
        let count = run.size(1_000_000, quick: 2_000)
        let server = try NoteServer(run, count: count)
        let sqlite = try run.peer("sqlite", [run.path("notes.db")])
        let postgres =
            try run.hasPeers
            ? run.peer("postgres", [run.variable("LARDER_BENCH_POSTGRES")]) : nil
        for peer in [sqlite, postgres] { _ = try peer?.sample("notes \(count)") }
        func compare(_ form: String, _ command: String, _ ours: @escaping () throws -> Sample)
            throws
        {
            try run.compare(
                "\(form) of \(count) objects, processor time", unit: "µs", ours: ours,
                [
                    Rival("SQLite, doubles", .atMost(3), sqlite, command),
                    Rival("PostgreSQL, numeric", .atMost(1), postgres, command),
                ])
        }
        try compare("decimal >", "price") { try server.count("price > 500.005") }
        try compare("decimal product >", "product") {
            try server.count("price * 3 > 1500.005")
        }
        try compare("decimal sum", "sum") { try server.aggregate(.sum, "price", times: 100) }
        try compare("decimal average", "average") { try server.aggregate(.average, "price") }
        try compare("sum of decimal products", "amount") {
            try server.aggregate(.sum, "price * quantity", times: 100)
        }
        for function in [AggregateFunction.median, .stddev] {
            try run.compare(
                "decimal \(function.rawValue) of \(count) objects, processor time", unit: "µs",
                ours: { try server.aggregate(function, "price") }, [])
        }
        for (form, predicate) in [
            ("day", "day(created) == 15"), ("month", "month(created) == 5"),
        ] {
            try run.compare(
                "\(form) of \(count) dates, processor time", unit: "µs",
                ours: { try server.count(predicate) },
                [Rival("SQLite's strftime", .atMost(1.5), sqlite, form)])
        }
    }
}
