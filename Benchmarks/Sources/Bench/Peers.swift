/// The peers that have a server of their own, or a file: how each is started and loaded.
///
/// Each function returns nil if peers are not measured. `students` is the number of students that
/// the peer stores.
enum SQLite {
    static func peer(_ run: Run, _ students: Int) throws -> Peer? {
        try loaded(run.peer("sqlite", [run.path("sqlite.db")]), students)
    }
}

enum Grdb {
    static func peer(_ run: Run, _ students: Int) throws -> Peer? {
        try loaded(run.peer("grdb", [run.path("grdb.db")]), students)
    }
}

enum Postgres {
    static func peer(_ run: Run, _ students: Int) throws -> Peer? {
        guard run.hasPeers else { return nil }
        return try loaded(
            run.peer("postgres", [run.variable("LARDER_BENCH_POSTGRES")]), students)
    }
}

enum Redis {
    static func peer(_ run: Run, _ students: Int) throws -> Peer? {
        guard run.hasPeers else { return nil }
        return try loaded(run.peer("redis", [run.variable("LARDER_BENCH_REDIS")]), students)
    }
}

/// A server and a client in one program, in two processes.
enum Grpc {
    static func peer(_ run: Run, _ students: Int) throws -> Peer? {
        try loaded(run.peer("grpc", [run.path("grpc.db"), run.path("grpc.socket")]), students)
    }
}

/// A server in C that answers a read from SQLite in its epoll loop and does nothing else: what the
/// socket and the database cost in any case.
final class Floor {
    let load: Peer
    let server: Peer

    init?(_ run: Run, students: Int) throws {
        let socket = run.path("floor.socket")
        guard let server = try loaded(run.peer("floor", [run.path("floor.db"), socket]), students)
        else { return nil }
        self.server = server
        self.load = try run.driver("load", ["floor", socket])
    }
}

private func loaded(_ peer: Peer?, _ students: Int) throws -> Peer? {
    _ = try peer?.sample("load \(students)")
    return peer
}
