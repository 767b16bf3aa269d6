import FoundationEssentials
import Glibc
import LarderClient

/// Instructions and allocations of the main paths, in the server and in the client. They are the
/// same on a busy machine, so every run, a quick one too, compares them with limits.
struct RequestCosts: Measure {
    let name = "costs"
    let isDeterministic = true

    /// The first argument of the bench if it is to perform a path's requests itself.
    static let clientArgument = "client"

    /// The limits for one unit: about a tenth more than the cost when they were set.
    private static func limits(_ path: MainPath, _ side: Side) -> Callgrind.Counts {
        let (instructions, allocations) =
            switch (path, side) {
            case (.read, .server): (34_500, 6.8)
            case (.read, .client): (20_600, 4.4)
            case (.again, .server): (12_100, 0.3)
            case (.again, .client): (20_600, 4.4)
            case (.fetch, .server): (1_810, 0.14)
            case (.records, .server): (2_230, 0.19)
            case (.fetch, .client): (132, 0.05)
            case (.records, .client): (2_450, 1.1)
            case (.group, .server): (840, 0.1)
            case (.group, .client): (105, 0.1)
            case (.insert, .server): (119_000, 40)
            case (.insert, .client): (21_400, 5.5)
            case (.changes, .server): (31_500, 11)
            case (.changes, .client): (7_600, 2.2)
            case (.rows, .server): (4_300, 0.45)
            case (.rows, .client): (3_550, 1.2)
            }
        return Callgrind.Counts(instructions: Double(instructions), allocations: allocations)
    }

    private enum Side: String {
        case server, client
    }

    func measure(_ run: Run) throws {
        let larderd = try Callgrind.stripped(run.program("larderd"), run)
        let output = run.path("server.counts")
        let server = try Server(
            run, command: Callgrind.command(larderd, output: output),
            environment: Callgrind.environment)
        let client = try server.connect()
        try Loader(client: client).students(MainPath.students)
        let plain = try Server(run)
        try Loader(client: try plain.connect()).students(MainPath.students)
        let bench = try Callgrind.stripped(CommandLine.arguments[0], run)
        let ruled = try ruledReads(larderd, run)
        var dumps = 0
        var excesses: [String] = []
        let students = try MainPath.students(client)
        func serverCounts(_ path: MainPath, attempt: Int) throws -> Callgrind.Counts {
            try Callgrind.dump(server.program)
            try path.run(client, students, passes: path.passes, from: attempt * path.passes)
            try Callgrind.dump(server.program)
            dumps += 2
            return try Callgrind.counts(in: "\(output).\(dumps)")
        }
        for path in MainPath.allCases {
            try path.run(client, students, passes: 2)
            var counts = try serverCounts(path, attempt: 0)
            // Under valgrind on a busy machine, a read may exceed the time of the event loop and
            // start again in the reader pool. That only adds to the counts.
            for attempt in 1...2 where isAboveLimit(counts, path, .server) {
                counts = Callgrind.Counts.least(counts, try serverCounts(path, attempt: attempt))
            }
            excesses += add(path, .server, counts, run)
            if let counted = ruled[path] {
                excesses += add(path, counted, comparedWith: counts, run)
            }
            let inClient = try [1, path.passes + 1].map { passes in
                try clientCounts(path, passes, plain, bench, run)
            }
            excesses += add(path, .client, inClient[1] - inClient[0], run)
        }
        if !excesses.isEmpty, run.scale != .comparison {
            throw Problem(
                "costs: above the limit: \(excesses.joined(separator: ", ")). Find what was added "
                    + "to the path; if it is necessary, raise the limit in RequestCosts.swift")
        }
    }

    // MARK: Reads under a row rule

    /// The greatest cost of a read under a row rule, relative to one without a policy.
    private static let ruleFactorMax = 1.15

    /// The counts of reads by a user who has a role with a row rule, which compares an attribute
    /// with the user's name.
    private func ruledReads(
        _ larderd: String, _ run: Run
    ) throws -> [MainPath: Callgrind.Counts] {
        let rights = #"{ "read": "name != $user", "insert": true }"#
        let output = run.path("ruled.counts")
        let server = try Server(
            run,
            policy: """
                { "roles": [ { "name": "reader", "users": ["\(geteuid())"],
                               "entities": { "Student": \(rights) } } ] }
                """,
            command: Callgrind.command(larderd, output: output),
            environment: Callgrind.environment)
        let client = try server.connect()
        try Loader(client: client).students(MainPath.students)
        let students = try MainPath.students(client)
        var counts: [MainPath: Callgrind.Counts] = [:]
        var dumps = 0
        for path in [MainPath.read, .again] {
            try path.run(client, students, passes: 2)
            for attempt in 0...1 {
                try Callgrind.dump(server.program)
                try path.run(
                    client, students, passes: path.passes, from: attempt * path.passes)
                try Callgrind.dump(server.program)
                dumps += 2
                let counted = try Callgrind.counts(in: "\(output).\(dumps)")
                counts[path] = counts[path].map { Callgrind.Counts.least($0, counted) } ?? counted
            }
        }
        return counts
    }

    private func add(
        _ path: MainPath, _ ruled: Callgrind.Counts, comparedWith plain: Callgrind.Counts,
        _ run: Run
    ) -> [String] {
        let row = Report.Row(
            measure: "\(path.unit), under a row rule, to one without: instructions, server",
            unit: "", ours: [ruled.instructions / plain.instructions],
            goal: .atMost(Self.ruleFactorMax))
        run.add(row, isCount: true)
        return row.isMet == false ? [row.measure] : []
    }

    private func isAboveLimit(
        _ counts: Callgrind.Counts, _ path: MainPath, _ side: Side
    ) -> Bool {
        let cost = counts / Double(path.passes * path.unitsInPass)
        let limits = Self.limits(path, side)
        return cost.instructions > limits.instructions || cost.allocations > limits.allocations
    }

    /// - Returns: the names of the rows that exceed their limits.
    private func add(
        _ path: MainPath, _ side: Side, _ counts: Callgrind.Counts, _ run: Run
    ) -> [String] {
        let cost = counts / Double(path.passes * path.unitsInPass)
        let limits = Self.limits(path, side)
        let rows = [
            ("instructions", cost.instructions, limits.instructions),
            ("allocations", cost.allocations, limits.allocations),
        ].map { quantity, cost, limit in
            Report.Row(
                measure: "\(path.unit): \(quantity), \(side)", unit: "", ours: [cost],
                goal: .atMost(limit))
        }
        for row in rows { run.add(row, isCount: true) }
        return rows.filter { $0.isMet == false }.map(\.measure)
    }

    // MARK: The client, in a process of its own

    private func clientCounts(
        _ path: MainPath, _ passes: Int, _ server: Server, _ bench: String, _ run: Run
    ) throws -> Callgrind.Counts {
        let output = run.path("client.counts")
        let command =
            Callgrind.command(bench, output: output)
            + [Self.clientArgument, path.rawValue, String(passes), server.socket]
        let program = try Program(
            command[0], Array(command.dropFirst()), environment: Callgrind.environment)
        try Callgrind.finish(program, "the client of \(path)")
        return try Callgrind.counts(in: output)
    }

    static func runClient(_ arguments: [String]) throws {
        guard arguments.count == 3, let path = MainPath(rawValue: arguments[0]),
            let passes = Int(arguments[1])
        else { throw Problem("usage: Bench \(clientArgument) PATH PASSES SOCKET", status: 64) }
        let client = try Server.connect(to: arguments[2])
        try path.run(client, try MainPath.students(client), passes: passes)
    }
}
