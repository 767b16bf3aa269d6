/// The response to a request at the socket of the metrics: the page `/metrics`, or an error. The
/// connection closes after it.
enum MetricsResponse {
    enum Outcome: Hashable, Sendable {
        /// The metrics; with `HEAD` only the fields of that response.
        case metrics(hasBody: Bool)
        case badRequest
        case notFound
        case methodNotAllowed
        case headTooLong
        case unsupportedVersion
    }

    static func outcome(of head: some Sequence<UInt8>) -> Outcome {
        do throws(HTTPRequest.Problem) {
            let request = try HTTPRequest(head: head)
            guard request.path == "/metrics" else { return .notFound }
            switch request.method {
            case "GET": return .metrics(hasBody: true)
            case "HEAD": return .metrics(hasBody: false)
            default: return .methodNotAllowed
            }
        } catch {
            switch error {
            case .malformed: return .badRequest
            case .unsupportedVersion: return .unsupportedVersion
            }
        }
    }

    /// The whole response.
    static func text(_ outcome: Outcome, metrics: String = "") -> String {
        var fields = "Connection: close\r\n"
        var body: String
        switch outcome {
        case .metrics:
            body = metrics
            fields += "Content-Type: \(PrometheusText.contentType)\r\n"
        default:
            body = "\(status(outcome))\n"
            fields += "Content-Type: text/plain; charset=utf-8\r\n"
        }
        if outcome == .methodNotAllowed { fields += "Allow: GET, HEAD\r\n" }
        fields += "Content-Length: \(body.utf8.count)\r\n"
        if outcome == .metrics(hasBody: false) { body = "" }
        return "HTTP/1.1 \(status(outcome))\r\n\(fields)\r\n\(body)"
    }

    private static func status(_ outcome: Outcome) -> String {
        switch outcome {
        case .metrics: "200 OK"
        case .badRequest: "400 Bad Request"
        case .notFound: "404 Not Found"
        case .methodNotAllowed: "405 Method Not Allowed"
        case .headTooLong: "431 Request Header Fields Too Large"
        case .unsupportedVersion: "505 HTTP Version Not Supported"
        }
    }
}
