import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import GRPCProtobuf

/// The service with grpc-swift-2 over a Unix socket: `FILE SOCKET` is the client, which starts the
/// server, `--serve FILE SOCKET`. Answers `load COUNT` and `latency READS COUNT`.
@main
struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments[1] == "--serve" {
            // The client has the other end of this pipe, so that the server ends with the client.
            Thread.detachNewThread {
                while readLine() != nil {}
                exit(0)
            }
            let service = SchoolService(students: Students(path: arguments[2]))
            try await GRPCServer(
                transport: .http2NIOPosix(
                    address: .unixDomainSocket(path: arguments[3]), transportSecurity: .plaintext),
                services: [service]
            ).serve()
        } else {
            try await ask(file: arguments[1], socket: arguments[2])
        }
    }

    private static func ask(file: String, socket: String) async throws {
        let server = Process()
        server.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        server.arguments = ["--serve", file, socket]
        let life = Pipe()
        server.standardInput = life
        guard let count = readLine()?.split(separator: " ").last.flatMap({ Int($0) }) else {
            return
        }
        Students.create(at: file, count)
        try server.run()
        defer { server.terminate() }
        try await withGRPCClient(
            transport: .http2NIOPosix(
                target: .unixDomainSocket(path: socket), transportSecurity: .plaintext)
        ) { client in
            let school = Bench_School.Client(wrapping: client)
            // The first call waits until the server accepts connections.
            _ = try await school.getStudent(.with { $0.key = 1 }, options: waiting)
            say(0, Int64(count))
            while let line = readLine() {
                let words = line.split(separator: " ").compactMap { Int($0) }
                try await latency(school, reads: words[0], count: words[1])
            }
        }
    }

    private static var waiting: CallOptions {
        var options = CallOptions.defaults
        options.waitForReady = true
        return options
    }

    private static func latency(
        _ school: some Bench_School.ClientProtocol, reads: Int, count: Int
    ) async throws {
        var times: [Double] = []
        var checksum: Int64 = 0
        for read in 0..<reads {
            let key = Int64(read * 7_919 % count) + 1
            let start = ContinuousClock.now
            let student = try await school.getStudent(.with { $0.key = key })
            times.append((ContinuousClock.now - start) / .microseconds(1))
            checksum +=
                Int64(student.name.utf8.count) + student.birthOfYear + Int64(student.score * 2)
        }
        say(times.sorted()[reads / 2], checksum)
    }

    private static func say(_ value: Double, _ checksum: Int64) {
        print("\(value) \(checksum)")
        fflush(nil)
    }
}

struct SchoolService: Bench_School.SimpleServiceProtocol {
    let students: Students

    func getStudent(
        request: Bench_StudentRequest, context: ServerContext
    ) async throws -> Bench_Student {
        guard let student = students.student(request.key) else {
            throw RPCError(code: .notFound, message: "there is no such student")
        }
        return student
    }
}
