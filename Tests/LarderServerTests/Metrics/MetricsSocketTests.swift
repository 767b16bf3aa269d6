import Glibc
import LarderModel
import LarderWire
import TestSupport
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("The metrics of a server")
    struct MetricsSocketTests {
        /// Sends text to a socket in pieces, and returns what the server sends until it closes.
        private func exchange(_ pieces: [String], at path: String) throws -> String {
            let descriptor = try UnixSocket.make(SOCK_STREAM)
            defer { close(descriptor) }
            try UnixSocketAddress(path: path).connect(descriptor)
            _ = fcntl(descriptor, F_SETFL, 0)
            for piece in pieces {
                let bytes = Array(piece.utf8)
                // The server may have closed already.
                send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            }
            var received: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { return String(decoding: received, as: UTF8.self) }
                received += buffer[..<count]
            }
        }

        private func serving(_ body: (_ server: Server, _ path: String) throws -> Void) async throws
        {
            let folder = try Folder()
            let path = "\(folder.path)/metrics"
            var options = Server.Options(name: "test")
            options.metricsSocket = try ListeningSocket(path: path)
            let server = try Server(backend: FakeStore(), options: options, logger: .silent)
            try server.listen()
            let outcome = Result { try body(server, path) }
            await server.stop()
            try outcome.get()
            #expect(!folder.contains("metrics"))
        }

        @Test("the metrics are served over HTTP, whole and byte by byte")
        func http() async throws {
            try await serving { _, path in
                let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
                for pieces in [[request], request.map(String.init)] {
                    let response = try exchange(pieces, at: path)
                    let parts = response.split(separator: "\r\n\r\n", maxSplits: 1)
                    #expect(parts[0].hasPrefix("HTTP/1.1 200 OK\r\n"))
                    #expect(parts[0].contains("Content-Length: \(parts[1].utf8.count)"))
                    let metrics = try PrometheusMetrics(parsing: String(parts[1]))
                    #expect(metrics["larder_connections"] == 0)
                }
                #expect(
                    try exchange(["POST /metrics HTTP/1.0\r\n\r\nbody"], at: path)
                        .hasPrefix("HTTP/1.1 405 "))
                #expect(try exchange(["\n\n"], at: path).hasPrefix("HTTP/1.1 400 "))
            }
        }

        @Test("a head of 8 KiB is read, and a longer one is an error")
        func longHead() async throws {
            try await serving { _, path in
                let start = "GET /metrics HTTP/1.0\r\nA: "
                let fill = String(
                    repeating: "a", count: MetricsConnection.headBytesMax - start.utf8.count)
                for (pieces, status) in [
                    (["\(start)\(fill)\r\n\r\n"], "200"),
                    (["\(start)a\(fill)\r\n\r\n"], "431"),
                    (Array(repeating: fill, count: 4), "431"),
                ] {
                    let response = try exchange(pieces, at: path)
                    #expect(response.hasPrefix("HTTP/1.1 \(status) "))
                }
            }
        }

        @Test(
            "a connection for metrics that sends nothing more is closed, and one too many at once")
        func connections() async throws {
            try await serving { _, path in
                var idle: [Int32] = []
                for _ in 0..<16 {
                    let descriptor = try UnixSocket.make(SOCK_STREAM)
                    try UnixSocketAddress(path: path).connect(descriptor)
                    idle.append(descriptor)
                }
                let request = "GET /metrics HTTP/1.0\r\n\r\n"
                #expect(try exchange([request], at: path) == "")
                shutdown(idle[0], Int32(SHUT_WR))
                #expect(
                    try eventually {
                        try exchange([request], at: path).hasPrefix("HTTP/1.1 200 OK")
                    })
                for descriptor in idle { close(descriptor) }
            }
        }

        private func metrics(_ peer: Peer) throws -> PrometheusMetrics {
            guard case .metrics(let text)? = try peer.call(.metrics) else {
                throw LarderError(.malformedMessage, "no metrics")
            }
            return try PrometheusMetrics(parsing: text)
        }

        @Test("the metrics have the requests of all event loops by kind and result")
        func requests() async throws {
            try await RunningServer.run(eventLoops: 2) { running in
                let peers = try (0..<4).map { _ in try running.ready() }
                for peer in peers {
                    _ = try peer.call(.fetch("rows 1"))
                    _ = try peer.call(.fetch("heavy"))
                    _ = try peer.call(.fetch("fails"))
                    _ = try peer.call(.insert(1))
                    _ = try peer.call(.schema)
                }
                let metrics = try metrics(peers[0])
                func count(_ kind: String, _ result: String) -> Double? {
                    metrics.value(
                        "larder_request_duration_seconds_count",
                        ["kind": kind, "result": result])
                }
                #expect(count("query", "ok") == 8)
                #expect(count("query", "error") == 4)
                #expect(count("save", "ok") == 4)
                #expect(count("schema", "ok") == 4)
                #expect(count("metrics", "ok") == nil)
                #expect(
                    metrics.value(
                        "larder_request_errors_total",
                        ["kind": "query", "code": "STORAGE_FAILED"]) == 4)
                #expect(metrics["larder_requests_total"] == 21)
                #expect(metrics["larder_connections"] == 4)
                #expect(metrics["larder_saves_total"] == 4)
                #expect(metrics.value("larder_commit_duration_seconds_count", [:]) == 4)
                #expect(metrics.value("larder_commit_change_sets_sum", [:]) == 4)
            }
        }

        @Test("pipelined requests and replies from the cache are counted with their own times")
        func pipeline() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                _ = try peer.call(.insert(1))
                running.store.records.state.withLock { $0.stamp = 1 }
                let get = Request.get([running.store.identifier(1)], properties: nil)
                try peer.send((100..<120).map { RequestEnvelope(id: $0, request: get) })
                for _ in 0..<20 { #expect(try peer.receive()?.reply.errorCode == nil) }
                let metrics = try metrics(peer)
                #expect(try #require(metrics["larder_reply_cache_hits_total"]) > 0)
                #expect(
                    metrics.value(
                        "larder_request_duration_seconds_count", ["kind": "get"]) == 20)
                let sum = metrics.value(
                    "larder_request_duration_seconds_sum", ["kind": "get"])
                #expect(try #require(sum) > 0)
            }
        }

        @Test("the metrics are reported while all readers and the writer are busy")
        func busy() async throws {
            let (reads, writes) = (Gate(), Gate())
            try await RunningServer.run(.init(slowReads: reads, writes: writes)) { limits in
                limits.readersPerConnectionMax = 1
            } _: { running in
                let peer = try running.ready()
                try peer.send(.fetch("slow"))
                reads.waitForArrival()
                try peer.send(.insert(1))
                writes.waitForArrival()
                let metrics = try metrics(running.ready())
                #expect(metrics["larder_pool_reads"] == 1)
                reads.open()
                writes.open()
                for _ in 0..<2 { #expect(try peer.receive()?.reply.errorCode == nil) }
            }
        }
    }
}
