import TestSupport
import Testing

@testable import LarderServer

@Suite("HTTP requests for the metrics")
struct MetricsResponseTests {
    private func outcome(_ head: String) -> MetricsResponse.Outcome {
        MetricsResponse.outcome(of: head.utf8)
    }

    @Test("GET and HEAD of /metrics are served, in each form of the target")
    func metrics() {
        for head in [
            "GET /metrics HTTP/1.1\r\nHost: localhost", "GET /metrics HTTP/1.0",
            "GET /metrics?a=b HTTP/1.0", "GET http://localhost/metrics HTTP/1.1\r\nhost: a",
            "GET /metrics HTTP/1.1\nHost:\nAccept: text/plain\nX-Empty:",
        ] {
            #expect(outcome(head) == .metrics(hasBody: true), "\(head)")
        }
        #expect(outcome("HEAD /metrics HTTP/1.0") == .metrics(hasBody: false))
    }

    @Test("other methods and paths have errors of their own")
    func others() {
        #expect(outcome("POST /metrics HTTP/1.0") == .methodNotAllowed)
        #expect(outcome("get /metrics HTTP/1.0") == .methodNotAllowed)
        for target in ["/", "/metrics/", "/metrics.txt", "//metrics", "*", "http://localhost"] {
            #expect(outcome("GET \(target) HTTP/1.0") == .notFound, "\(target)")
        }
        #expect(outcome("POST / HTTP/1.0") == .notFound)
        #expect(outcome("GET /metrics HTTP/2.0") == .unsupportedVersion)
        #expect(outcome("GET /metrics HTTP/0.9") == .unsupportedVersion)
    }

    @Test("a head that is not HTTP is a bad request")
    func malformed() {
        for head in [
            "", " ", "GET", "GET /metrics", "GET  /metrics HTTP/1.0", "GET /metrics HTTP/1.0 ",
            " GET /metrics HTTP/1.0", "GET metrics HTTP/1.0", "GET /metrics http/1.0",
            "G(T /metrics HTTP/1.0", "GET /metrics HTTP/1.0\r\nno field",
            "GET /metrics HTTP/1.0\r\nA : b", "GET /metrics HTTP/1.0\r\n: b",
            "GET /metrics HTTP/1.0\r\nA: b\r\n folded", "GET /metrics HTTP/1.1",
            "GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b", "GÉT /metrics HTTP/1.0",
            "GET /metrics HTTP/10.1", "GET /metrics\u{301} HTTP/1.",
        ] {
            #expect(outcome(head) == .badRequest, "\(head)")
        }
        let invalid = Array("GET /metrics HTTP/1.0\r\nA: ".utf8) + [0xFF]
        #expect(MetricsResponse.outcome(of: invalid) == .badRequest)
    }

    @Test("a response has the length of its body, and says that the connection closes")
    func responses() {
        #expect(
            MetricsResponse.text(.metrics(hasBody: true), metrics: "é 1\n")
                == "HTTP/1.1 200 OK\r\nConnection: close\r\n"
                + "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
                + "Content-Length: 5\r\n\r\né 1\n")
        #expect(
            MetricsResponse.text(.metrics(hasBody: false), metrics: "é 1\n")
                .hasSuffix("Content-Length: 5\r\n\r\n"))
        #expect(
            MetricsResponse.text(.methodNotAllowed)
                == "HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n"
                + "Content-Type: text/plain; charset=utf-8\r\nAllow: GET, HEAD\r\n"
                + "Content-Length: 23\r\n\r\n405 Method Not Allowed\n")
    }

    @Test("a damaged head has a response")
    func damaged() {
        var random = SeededGenerator.fromEnvironment("damaged HTTP requests")
        let head = Array("GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: */*".utf8)
        for _ in 0..<RandomTesting.iterations() {
            let bytes = Fuzzing.mutated(head, donor: head, using: &random)
            let text = MetricsResponse.text(MetricsResponse.outcome(of: bytes))
            #expect(text.hasPrefix("HTTP/1.1 "), "seed \(random.seed)")
        }
    }
}
