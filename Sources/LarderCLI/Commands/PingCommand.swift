import ArgumentParser
import Glibc
import LarderModel

struct PingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ping",
        abstract: "Check that the server is up and print its version.",
        discussion: """
            EXAMPLES:
              larder ping
              larder ping --wait --timeout 5s && larder count Article

            The server replies after a round trip through its reader and its writer. With --wait, \
            ping retries until a server replies or --timeout expires (exit status 75).
            """)

    @Flag(help: "Wait until the server replies.")
    var wait = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func run() throws {
        guard wait else { return try StoreSession.with(connection) { try ping($0) } }
        let deadline = ContinuousClock.now + connection.timeLimit
        while true {
            var attempt = connection
            let timeLeft = max(deadline - ContinuousClock.now, Self.attemptTimeMin)
            attempt.timeout = TimeLimit(duration: timeLeft)
            do {
                return try StoreSession.with(attempt) { try ping($0) }
            } catch let error as LarderError where Self.isTransient(error) {
                guard ContinuousClock.now < deadline else {
                    throw LarderError(
                        .timeout, "no server replied within --timeout: \(error.message)",
                        hint: error.hint)
                }
                Self.pause()
            }
        }
    }

    /// A shorter attempt could time out although a server is up.
    private static let attemptTimeMin = Duration.milliseconds(10)

    /// Pauses for 10 ms. No event reports that a server has begun to listen, so ping has to poll.
    private static func pause() { _ = poll(nil, 0, 10) }

    /// Whether a retry may succeed.
    private static func isTransient(_ error: LarderError) -> Bool {
        [.connectionFailed, .timeout, .unavailable].contains(error.code)
    }

    private func ping(_ session: StoreSession) throws {
        let start = ContinuousClock.now
        try session.client.ping()
        let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        let server = session.client.server
        let row: [Value] = [
            .string(server.name), .uuid(server.storeIdentifier),
            .string(server.schemaVersion), .bool(server.isReadOnly),
            .double((milliseconds * 1_000).rounded() / 1_000),
        ]
        var writer = output.format.makeWriter()
        try writer.write(
            all: [row], names: ["server", "store", "schema", "readOnly", "milliseconds"])
    }
}
