import ArgumentParser
import LarderModel

struct MetricsCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Print the metrics of the server in Prometheus' text format.",
        discussion: """
            EXAMPLES:
              larder metrics
              larder metrics | grep larder_request_errors_total
              larder metrics > larder.prom.new && mv larder.prom.new larder.prom

            `larderd --metrics-socket PATH` serves the same text over HTTP. The numbers are those \
            of `larder stats`, and the times of requests and commits as histograms.
            """)

    @OptionGroup var connection: ConnectionOptions

    func run(_ session: StoreSession) throws {
        var output = StandardOutput()
        try output.write(try session.client.metrics())
        try output.flush()
    }
}
