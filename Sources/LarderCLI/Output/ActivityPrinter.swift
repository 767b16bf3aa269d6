import FoundationEssentials
import LarderModel

/// Prints reports of what a server is doing.
///
/// A table is a summary, the connections, the running requests and the slowest reads; on a terminal
/// it replaces the one before it. JSON has one object per report; plain and CSV output have the
/// connections only.
struct ActivityPrinter {
    private static let slowReadsMax = 5
    private static let runningMax = 10
    /// A connection is printed even if the screen is too small.
    private static let connectionsMin = 3

    private let format: OutputFormat
    private let screen: TerminalScreen?
    private let serverName: String
    private var writer: any RowWriter
    private var json: JSONWriter
    private var hasBegun = false

    init(_ format: OutputFormat, screen: TerminalScreen?, serverName: String) {
        self.format = format
        self.screen = screen
        self.serverName = serverName
        writer = format.makeWriter()
        json = JSONWriter(isArray: format == .json)
    }

    mutating func print(_ report: ActivityReport) throws(LarderError) {
        defer { hasBegun = true }
        switch format {
        case .json, .jsonl:
            if !hasBegun { try json.begin([]) }
            try json.write(object: report.json)
            try json.flush()
        case .plain, .csv, .vertical:
            if !hasBegun { try writer.begin(Self.names) }
            for connection in report.connections {
                try writer.write(Self.row(connection, isTable: format == .vertical))
            }
            try writer.flush()
        case .table: try printTable(report)
        }
    }

    mutating func end() throws(LarderError) {
        switch format {
        case .json, .jsonl: try json.end()
        case .plain, .csv, .vertical: try writer.end()
        case .table: break
        }
    }

    // MARK: Connections

    private static let names = [
        "user", "process", "client", "since", "requests", "perSecond", "inFlight", "followers",
        "memory", "waiting", "number",
    ]

    /// The headings of the table, which fits into 80 columns: without the bytes that wait.
    private static let tableNames = [
        "user", "pid", "client", "age", "reqs", "/s", "open", "feeds", "memory", "id",
    ]

    private static func tableRow(
        _ connection: ActivityReport.Connection, at time: Date
    ) -> [Value] {
        let activity = connection.activity
        let age = Int64(clamped: max(0, time.timeIntervalSince(activity.opened)))
        return [
            .string(activity.source.userName),
            activity.source.processIdentifier.map { .int(Int64($0)) } ?? .null,
            .string(activity.source.clientName), .string(ElapsedTime(age).text),
            .int(activity.requestCount), .double(connection.requestsPerSecond),
            .int(activity.requestsInFlight), .int(activity.followerCount),
            .string(ByteCount(activity.memoryByteCount).text), .int(activity.id),
        ]
    }

    private static func row(
        _ connection: ActivityReport.Connection, isTable: Bool
    ) -> [Value] {
        let activity = connection.activity
        func bytes(_ count: Int64) -> Value {
            isTable ? .string(ByteCount(count).text) : .int(count)
        }
        return [
            .string(activity.source.userName),
            activity.source.processIdentifier.map { .int(Int64($0)) } ?? .null,
            .string(activity.source.clientName),
            .date(isTable ? activity.opened.inSeconds : activity.opened),
            .int(activity.requestCount), .double(connection.requestsPerSecond),
            .int(activity.requestsInFlight), .int(activity.followerCount),
            bytes(activity.memoryByteCount), bytes(activity.waitingByteCount), .int(activity.id),
        ]
    }

    // MARK: Tables

    private func printTable(_ report: ActivityReport) throws(LarderError) {
        var output = StandardOutput()
        if let screen {
            try output.write(control: screen.start)
        } else if hasBegun {
            try output.write("\n")
        }
        let window = TerminalWindow()
        let summary = summary(report).map { line in
            window.map { DisplayWidth.cut(line, to: $0.columnCount) } ?? line
        }
        try output.write(summary.joined(separator: "\n") + "\n\n")
        try output.flush()
        let slowReads = report.slowReads.prefix(Self.slowReadsMax)
        let running = report.running.prefix(Self.runningMax)
        // Two lines of headers, and the lines between the tables.
        let others = [slowReads.count, running.count].reduce(summary.count + 4) {
            $0 + ($1 == 0 ? 0 : $1 + 4)
        }
        let shown = report.connections.prefix(
            screen.map { max(Self.connectionsMin, $0.lineCount - others) } ?? .max)
        var table = TableWriter(overflow: .cut)
        try table.write(
            all: shown.map { Self.tableRow($0, at: report.load.time) }, names: Self.tableNames)
        if shown.count < report.connections.count {
            try output.write("… and \(report.connections.count - shown.count) more\n")
        }
        let hasTraces = running.contains { !$0.trace.isEmpty }
        try printTable(
            "running",
            running.map {
                Self.row($0, at: report.load.time) + (hasTraces ? [.string($0.trace)] : [])
            },
            ["id", "seconds", "user", "kind", "entity", "query"] + (hasTraces ? ["trace"] : []))
        try printTable(
            "slow reads", slowReads.map(Self.row), ["seconds", "user", "ended", "entity", "query"])
        if let screen { try output.write(control: screen.end) }
        try output.flush()
    }

    /// Prints a table with a title; nothing if it has no rows.
    private func printTable(
        _ title: String, _ rows: [[Value]], _ names: [String]
    ) throws(LarderError) {
        guard !rows.isEmpty else { return }
        var output = StandardOutput()
        try output.write("\n\(title)\n")
        try output.flush()
        var table = TableWriter(overflow: .cut)
        try table.write(all: rows, names: names)
    }

    private static func row(_ request: RunningRequest, at time: Date) -> [Value] {
        // Requests without an entity have no query that could be hidden.
        let hidden = request.entityName.isEmpty ? "" : ofOtherUser
        return [
            .string(request.id), .double(request.seconds(at: time)),
            .string(request.source.userName), .string(request.kind),
            .string(request.entityName), .string(request.query ?? hidden),
        ]
    }

    private static let ofOtherUser = "(of another user)"

    private static func row(_ read: SlowRead) -> [Value] {
        [
            .double((read.seconds * 1_000).rounded() / 1_000), .string(read.source.userName),
            .date(read.ended.inSeconds), .string(read.entityName),
            .string(read.query ?? ofOtherUser),
        ]
    }

    private func summary(_ report: ActivityReport) -> [String] {
        let load = report.load
        let uptime = Int64(clamped: max(0, load.time.timeIntervalSince(load.started)))
        return [
            "\(serverName), \(load.time.inSeconds.text), up \(ElapsedTime(uptime).text), "
                + Self.text(report.connections.count, "connection") + ", "
                + Self.text(Int(report.followerCount), "follower"),
            "per second: \(Value.double(report.requestsPerSecond).text) requests, "
                + "\(Value.double(report.savesPerSecond).text) saves, "
                + "\(Value.double(report.commitsPerSecond).text) commits",
            "waiting: \(Self.text(Int(load.writesWaiting), "write")), "
                + "\(Self.text(Int(load.readsWaiting), "long read")); running: "
                + Self.text(Int(load.readsRunning), "long read")
                + (load.backupsRunning > 0
                    ? ", \(Self.text(Int(load.backupsRunning), "backup"))" : "") + "; log: "
                + ByteCount(load.logByteCount).text,
        ]
    }

    private static func text(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}

/// A number of bytes for people: `4.2 MiB`.
struct ByteCount {
    private let count: Int64

    init(_ count: Int64) { self.count = count }

    var text: String {
        var number = Double(count)
        var units = ["B", "KiB", "MiB", "GiB", "TiB"][...]
        while number >= 1_024, units.count > 1 {
            number /= 1_024
            units = units.dropFirst()
        }
        guard let unit = units.first, unit != "B" else { return "\(count) B" }
        let tenths = Int64(clamped: (number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}

extension Date {
    fileprivate var inSeconds: Date {
        Date(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate.rounded(.down))
    }
}
