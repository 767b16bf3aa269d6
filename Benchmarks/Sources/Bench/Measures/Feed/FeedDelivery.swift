import FoundationEssentials
import LarderClient
import LarderModel

/// How soon the event of a commit is with subscribers in another process, and how many commits and
/// events per second there are while subscribers receive everything.
///
/// Every side commits durably, over Unix sockets: `larderd` with its default durability, PostgreSQL
/// with `synchronous_commit=on`, and Redis with `appendfsync always`. Each connection of a writer
/// and of a subscriber has a thread that blocks, with LarderClient, libpq or hiredis.
struct FeedDelivery: Measure {
    let name = "feed"
    private let writers = 16

    func measure(_ run: Run) throws {
        let server = try Server(run)
        defer { server.program.end() }
        let client = try server.connect()
        guard client.server.historyEpoch != 0 else {
            return run.say("feed: this larderd has no history")
        }
        let count = run.size(10_000, quick: 1_000)
        let students = try Loader(client: client).students(count)
        let sides = try [.larder(run, server, writersMax: writers)] + FeedSide.peers(run)
        let subscribers = [0, 1, run.size(100, quick: 10)]
        var table = FeedTable(sides: sides.map(\.name))
        try Processors.withSeparateProcessors(
            run, servers: [server.program], clients: sides.map(\.peer)
        ) {
            try measureLatency(
                run, sides, subscribers, &table,
                read: {
                    let reads = run.size(1_000, quick: 100)
                    return try ReadLatency.read(client, students, reads).value
                })
        }
        try measureThroughput(run, sides, subscribers, &table)
        for row in table.reportRows { run.record(row) }
        run.say("")
        for line in table.lines { run.say(line) }
    }

    // MARK: Latency

    /// One writer's commits, each after all subscribers have the event of the last one.
    ///
    /// - Parameter read: The median of point reads, in microseconds.
    private func measureLatency(
        _ run: Run, _ sides: [FeedSide], _ subscribers: [Int], _ table: inout FeedTable,
        read: () throws -> Double
    ) throws {
        let each = run.size(300, quick: 20)
        for subscribers in subscribers {
            let plan = FeedRun(subscribers: subscribers, writers: 1, each: each, isPaced: true)
            let alone = FeedRun(subscribers: 0, writers: 1, each: each, isPaced: true)
            var (reads, acknowledgements): ([Double], [Double]) = ([], [])
            let (traces, checksum) = try traces(run, sides, plan) {
                guard subscribers > 0 else { return }
                reads.append(try read())
                acknowledgements.append(try sides[0].perform(alone).acknowledgements.median)
            }
            func add(_ label: String, isSigned: Bool = false, _ times: (FeedTrace) -> [Double]) {
                table.rows.append(
                    FeedTable.Row(
                        label: label, unit: "µs",
                        values: traces.map { $0.map { times($0).median } },
                        p99: traces.map { $0.map { times($0).percentile(0.99) } },
                        isSigned: isSigned, checksum: checksum))
            }
            let name = Self.name(subscribers)
            add("commit: sent to acknowledged, \(name)") { $0.acknowledgements }
            guard subscribers > 0 else { continue }
            for (receiver, which) in Self.receivers(subscribers) {
                add("event: acknowledged to arrived, \(name)\(which)", isSigned: true) {
                    $0.afterAcknowledgement(at: receiver)
                }
                add("event: sent to arrived, \(name)\(which)") { $0.afterSending(at: receiver) }
                judge(
                    run, traces[0], receiver, name + which, alone: acknowledgements, reads: reads)
            }
        }
    }

    /// Compares an event's delay with a point read: after the acknowledgement of its commit, and
    /// after the time in which a commit without subscribers is acknowledged. Only the second row
    /// shows it if a server sends events first and acknowledges later.
    private func judge(
        _ run: Run, _ traces: [FeedTrace], _ receiver: FeedTrace.Receiver, _ name: String,
        alone: [Double], reads: [Double]
    ) {
        let arrivals = traces.map { $0.afterSending(at: receiver).median }
        let goal: Goal? = traces[0].arrivals.count == 1 ? .atMost(3) : nil
        run.add(
            Report.Row(
                measure: "event's arrival after the acknowledgement, \(name), median",
                unit: "µs", ours: traces.map { $0.afterAcknowledgement(at: receiver).median },
                peer: "point read", theirs: reads, goal: goal))
        run.add(
            Report.Row(
                measure:
                    "event's arrival after an acknowledgement without subscribers, \(name), median",
                unit: "µs", ours: zip(arrivals, alone).map { $0 - $1 },
                peer: "point read", theirs: reads, goal: goal))
    }

    // MARK: Throughput

    private func measureThroughput(
        _ run: Run, _ sides: [FeedSide], _ subscribers: [Int], _ table: inout FeedTable
    ) throws {
        for subscribers in subscribers {
            // A round takes about half a second.
            let each = run.size(subscribers > 1 ? 250 : 1_000, quick: 10)
            let plan = FeedRun(
                subscribers: subscribers, writers: writers, each: each, isPaced: false)
            let (traces, checksum) = try traces(run, sides, plan) {}
            func add(_ label: String, _ rate: (FeedTrace) -> Double) {
                table.rows.append(
                    FeedTable.Row(
                        label: "\(label), \(writers) writers, \(Self.name(subscribers))",
                        unit: "/s", values: traces.map { $0.map(rate) }, checksum: checksum))
            }
            add("durable commits/s") { $0.commitsPerSecond }
            if subscribers > 0 { add("events/s received") { $0.eventsPerSecond } }
        }
    }

    // MARK: Rounds

    /// Runs all sides in rounds, in alternating order; the first round warms up.
    ///
    /// - Parameter beforeRound: Is called for each round but the first one.
    /// - Returns: the traces by side and round, and the checksum, which is the same for all.
    private func traces(
        _ run: Run, _ sides: [FeedSide], _ plan: FeedRun, beforeRound: () throws -> Void
    ) throws -> ([[FeedTrace]], checksum: Int64) {
        var traces = [[FeedTrace]](repeating: [], count: sides.count)
        for round in 0...run.rounds {
            if round > 0 { try beforeRound() }
            let order = round % 2 == 0 ? Array(sides.indices) : sides.indices.reversed()
            for side in order {
                let trace = try sides[side].perform(plan)
                try check(trace, plan, sides[side])
                if round > 0 { traces[side].append(trace) }
            }
        }
        return (traces, traces[0][0].checksum)
    }

    /// Each subscriber must have received the numbers from 1 on, each of them once.
    private func check(_ trace: FeedTrace, _ plan: FeedRun, _ side: FeedSide) throws {
        let expected = Int64(plan.subscribers * plan.events * (plan.events + 1) / 2)
        guard trace.checksum == expected, trace.sent.count == plan.events,
            trace.arrivals.allSatisfy({ $0.allSatisfy { $0 > 0 } })
        else {
            throw Problem(
                "feed: the events of \(side.name) have the checksum \(trace.checksum) instead of "
                    + "\(expected)")
        }
    }

    private static func receivers(_ subscribers: Int) -> [(FeedTrace.Receiver, String)] {
        guard subscribers > 1 else { return [(.last, "")] }
        return [(.median, ", the median one"), (.last, ", the last one")]
    }

    private static func name(_ subscribers: Int) -> String {
        switch subscribers {
        case 0: "no subscriber"
        case 1: "1 subscriber"
        default: "\(subscribers) subscribers"
        }
    }
}
