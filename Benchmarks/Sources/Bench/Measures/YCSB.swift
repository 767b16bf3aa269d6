import FoundationEssentials
import LarderModel

/// The YCSB core workloads A to F on Larder, PostgreSQL and Redis, all with durable writes.
///
/// One load generator in C (`Peers/C/ycsb`) drives each store: the same loop, the same operations
/// and values from one seed, with each store's protocol written by hand. So the stores are compared
/// and not their client libraries. Each workload runs as a closed loop, and as an open loop at half
/// of that throughput, where latency counts from the time at which an operation was due.
struct YCSB: Measure {
    let name = "ycsb"

    func measure(_ run: Run) throws {
        let plan = Plan(run)
        let server = try Server(run, schema: Self.schema)
        // The server lives as long as this function.
        defer { server.program.end() }
        let stores = try Self.stores(run, server)
        for store in stores {
            let start = ContinuousClock.now
            _ = try store.driver.sample("load \(plan.records)")
            let seconds = Report.short((ContinuousClock.now - start) / .seconds(1))
            run.say("ycsb: \(store.name): \(plan.records) records loaded in \(seconds) s")
        }
        try compareChecksums(stores, plan)
        var results: [Result] = []
        for cell in plan.cells {
            results.append(try measure(cell, stores, plan))
            if let result = results.last { record(result, stores, run) }
        }
        if run.scale != .comparison {
            try YCSBClientCosts(server: server, driver: stores[0].driver, plan: plan).measure(run)
        }
        run.say("")
        let table = YCSBTable(stores: stores.map(\.name), isJudged: !run.isQuick)
        for line in table.lines(results) { run.say(line) }
    }

    static let schema: String = {
        let attributes = (0..<10).map { "{ \"name\": \"field\($0)\", \"type\": \"string\" }" }
        return """
            { "version": "1.0.0",
              "entities": [
                { "name": "User", "attributes": [ \(attributes.joined(separator: ", ")) ] } ] }
            """
    }()

    struct Store {
        var name: String
        var driver: Peer
    }

    private static func stores(_ run: Run, _ server: Server) throws -> [Store] {
        var stores = [
            Store(name: "Larder", driver: try run.driver("ycsb", ["larder", server.socket]))
        ]
        guard run.hasPeers else { return stores }
        for (name, protocolName, variable) in [
            ("PostgreSQL", "postgres", "LARDER_BENCH_POSTGRES_SOCKET"),
            ("Redis", "redis", "LARDER_BENCH_DURABLE_REDIS"),
        ] {
            let socket = try run.variable(variable)
            stores.append(
                Store(name: name, driver: try run.driver("ycsb", [protocolName, socket])))
        }
        return stores
    }

    /// Reads records from each store before anything is changed; all must return the same.
    private func compareChecksums(_ stores: [Store], _ plan: Plan) throws {
        let samples = try stores.map { try $0.driver.sample("check \(plan.checkedReads) 7") }
        for (store, sample) in zip(stores, samples) where sample.checksum != samples[0].checksum {
            throw Problem(
                "ycsb: \(store.name) read \(sample.checksum), Larder \(samples[0].checksum)")
        }
    }

    /// One workload with one distribution and a number of connections.
    struct Cell {
        var workload: String
        var distribution: String
        var connections: Int

        var label: String { "\(workload) \(distribution), \(connections)" }
    }

    /// The rounds of one store in one cell.
    struct Outcome {
        var throughput: [Double] = []
        var closed = Latencies()
        var open = Latencies()
    }

    /// Percentiles in microseconds, one per round.
    struct Latencies {
        var p50: [Double] = []
        var p99: [Double] = []
        var p999: [Double] = []

        /// - Parameter values: The driver's answer: operations per second and three percentiles.
        mutating func append(_ values: [Double]) {
            p50.append(values[1])
            p99.append(values[2])
            p999.append(values[3])
        }
    }

    struct Result {
        var cell: Cell
        var outcomes: [Outcome]
    }

    private func measure(_ cell: Cell, _ stores: [Store], _ plan: Plan) throws -> Result {
        var outcomes = [Outcome](repeating: Outcome(), count: stores.count)
        func perform(_ store: Int, rate: Int, seed: Int) throws -> [Double] {
            try stores[store].driver.values(
                "run \(cell.workload) \(cell.distribution) \(cell.connections) \(plan.seconds) "
                    + "\(rate) \(seed)", count: 4)
        }
        for round in 0..<plan.rounds {
            for store in Self.order(stores.count, round) {
                let values = try perform(store, rate: 0, seed: 100 + round)
                outcomes[store].throughput.append(values[0])
                outcomes[store].closed.append(values)
            }
        }
        for round in 0..<plan.rounds {
            for store in Self.order(stores.count, round) {
                let rate = max(1, Int(outcomes[store].throughput.median / 2))
                outcomes[store].open.append(try perform(store, rate: rate, seed: 200 + round))
            }
        }
        return Result(cell: cell, outcomes: outcomes)
    }

    /// The order of the stores alternates, so that none always follows the same one.
    private static func order(_ count: Int, _ round: Int) -> [Int] {
        round % 2 == 0 ? Array(0..<count) : (0..<count).reversed()
    }

    // MARK: Goals

    /// The goal for the ratio of throughputs. Scans in Redis are reads of an index and then of each
    /// record by the client, so workload E is not judged against it.
    static func throughputGoal(_ workload: String, _ peer: String) -> Goal? {
        switch (peer, workload) {
        case ("PostgreSQL", _): .atLeast(2)
        case ("Redis", "A"), ("Redis", "F"): .atLeast(1)
        case ("Redis", "B"), ("Redis", "C"), ("Redis", "D"): .atLeast(0.9)
        default: nil
        }
    }

    static func latencyGoal(_ peer: String) -> Goal? { peer == "PostgreSQL" ? .atMost(1) : nil }

    private func record(_ result: Result, _ stores: [Store], _ run: Run) {
        let ours = result.outcomes[0]
        let throughput = "ycsb \(result.cell.label) connections: throughput"
        let latency = "ycsb \(result.cell.label) connections: p99 at half of the throughput"
        if stores.count == 1 {
            run.record(Report.Row(measure: throughput, unit: "/s", ours: ours.throughput))
            run.record(
                Report.Row(
                    measure: "ycsb \(result.cell.label) connections: p99", unit: "µs",
                    ours: ours.closed.p99))
            run.record(Report.Row(measure: latency, unit: "µs", ours: ours.open.p99))
        }
        for (store, theirs) in zip(stores, result.outcomes).dropFirst() {
            run.record(
                Report.Row(
                    measure: throughput, unit: "/s", ours: ours.throughput, peer: store.name,
                    theirs: theirs.throughput,
                    goal: Self.throughputGoal(result.cell.workload, store.name)))
            run.record(
                Report.Row(
                    measure: latency, unit: "µs", ours: ours.open.p99, peer: store.name,
                    theirs: theirs.open.p99, goal: Self.latencyGoal(store.name)))
        }
    }

    // MARK: Sizes

    /// The data and the cells of a run.
    struct Plan {
        var records = 1_000_000
        /// The duration of one run of one store, of which the first tenth only warms up.
        var seconds = 3.0
        var rounds = 3
        var checkedReads = 50_000
        var connections = [16, 64]

        init(_ run: Run) {
            switch run.scale {
            case .full: break
            case .comparison: (records, seconds, rounds, checkedReads) = (200_000, 1, 1, 1_000)
            case .quick:
                (records, seconds, rounds, checkedReads) = (2_000, 0.2, 1, 500)
                connections = [4]
            }
        }

        /// Reads come first: A, B, D, E and F change the records, faster stores more of them.
        var cells: [Cell] {
            ["C", "B", "A", "F", "D", "E"].flatMap { workload in
                (workload == "D" ? ["latest"] : ["zipfian", "uniform"]).flatMap { distribution in
                    connections.map {
                        Cell(workload: workload, distribution: distribution, connections: $0)
                    }
                }
            }
        }
    }
}
