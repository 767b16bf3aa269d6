import FoundationEssentials
import Glibc

/// Where processes run, so that the system's choice does not decide a comparison: a client and a
/// server that wait for each other take half as long on one processor as on two, and which it is
/// stays for as long as both live.
enum Processors {
    private static let count = sysconf(Int32(_SC_NPROCESSORS_ONLN))

    /// Keeps all clients, the bench among them, on one processor and all servers on another, where
    /// there are two.
    static func keepingApart(
        _ run: Run, servers: [Program?], clients: [Peer?], _ body: () throws -> Void
    ) throws {
        guard count > 1 else { return try body() }
        let clients = Set(clients.compactMap { $0?.program.identifier } + [getpid()])
        let servers = Set(servers.compactMap { $0?.identifier } + run.peersServers)
        // A client may have started its server, and a server one for each client.
        let others = try children(of: clients.union(servers)).subtracting(clients)
        try keep(clients, on: 0...0)
        try keep(servers.union(others), on: 1...1)
        defer { try? keep(clients.union(servers).union(others), on: 0...count - 1) }
        try body()
    }

    /// Keeps processes on some processors, from 0, with all their threads.
    private static func keep(_ processes: Set<pid_t>, on processors: ClosedRange<Int>) throws {
        for process in processes {
            let taskset = try Program(
                "/usr/bin/taskset",
                [
                    "--all-tasks", "--cpu-list", "--pid",
                    "\(processors.lowerBound)-\(processors.upperBound)", String(process),
                ], descriptors: [nil, nil])
            guard taskset.finish() == 0 else {
                throw Problem("process \(process) cannot be kept on processors \(processors)")
            }
        }
    }

    /// The processes that these have started, and theirs.
    private static func children(of processes: Set<pid_t>) throws -> Set<pid_t> {
        var parents: [pid_t: pid_t] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let process = pid_t(name),
                let text = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8),
                // Behind the program's name, which may hold anything.
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
