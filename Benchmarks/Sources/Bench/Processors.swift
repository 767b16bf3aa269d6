import FoundationEssentials
import Glibc

/// Which processors processes run on. A client and a server that wait for each other take half as
/// long on one processor as on two, and the scheduler's choice lasts as long as both live; without
/// this it would decide the comparison.
enum Processors {
    private static let count = sysconf(Int32(_SC_NPROCESSORS_ONLN))

    /// Runs the closure with all clients, the bench among them, on one processor and all servers
    /// on another. Does nothing on a machine with one processor.
    static func withSeparateProcessors(
        _ run: Run, servers: [Program?], clients: [Peer?], _ body: () throws -> Void
    ) throws {
        guard count > 1 else { return try body() }
        let clients = Set(clients.compactMap { $0?.program.identifier } + [getpid()])
        let servers = Set(servers.compactMap { $0?.identifier } + run.peerServers)
        // A client may have started its server, and a server has a process for each client.
        let others = try descendants(of: clients.union(servers)).subtracting(clients)
        try restrict(clients, to: 0...0)
        try restrict(servers.union(others), to: 1...1)
        defer { try? restrict(clients.union(servers).union(others), to: 0...count - 1) }
        try body()
    }

    /// Restricts processes, with all their threads, to some processors.
    private static func restrict(_ processes: Set<pid_t>, to processors: ClosedRange<Int>) throws {
        for process in processes {
            let taskset = try Program(
                "/usr/bin/taskset",
                [
                    "--all-tasks", "--cpu-list", "--pid",
                    "\(processors.lowerBound)-\(processors.upperBound)", String(process),
                ], descriptors: [nil, nil])
            guard taskset.finish() == 0 else {
                throw Problem(
                    "process \(process) cannot be restricted to processors \(processors)")
            }
        }
    }

    /// The processes that these have started, directly or indirectly.
    private static func descendants(of processes: Set<pid_t>) throws -> Set<pid_t> {
        var parents: [pid_t: pid_t] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let process = pid_t(name),
                let text = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8),
                // The program's name ends with the last parenthesis; it may contain others.
                let rest = text.split(separator: ")").last?.split(separator: " "), rest.count > 1,
                let parent = pid_t(rest[1])
            else { continue }
            parents[process] = parent
        }
        var found: Set<pid_t> = []
        var count = -1
        while count < found.count {
            count = found.count
            for (process, parent) in parents
            where processes.contains(parent) || found.contains(parent) {
                found.insert(process)
            }
        }
        return found
    }
}
