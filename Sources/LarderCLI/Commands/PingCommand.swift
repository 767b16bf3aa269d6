import ArgumentParser
import Glibc
import LarderModel

struct PingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ping",
        abstract: "Says whether a server answers, and which.",
        discussion: """
            EXAMPLES:
              larder ping
              larder ping --wait --timeout 5s && larder count Article

            The answer has been through the server's reader and its writer. With --wait it tries \
            again until one answers or the time is over (status 75).
            """)

    @Flag(help: "Waits until the server answers.")
    var wait = false

    @OptionGroup var options: GlobalOptions

    func run() throws {
        guard wait else { return try OpenStore.with(options) { try ping($0) } }
        let deadline = ContinuousClock.now + options.timeLimit
        while true {
            var attempt = options
            let rest = max(deadline - ContinuousClock.now, Self.attemptTimeMin)
            attempt.timeout = TimeLimit(duration: rest)
            do {
                return try OpenStore.with(attempt) { try ping($0) }
            } catch let error as LarderError where Self.mayPass(error) {
                guard ContinuousClock.now < deadline else {
                    throw LarderError(
                        .timeout, "no server answered within the time: \(error.message)",
                        hint: error.hint)
                }
                Self.pause()
            }
        }
    }

    /// A shorter one would fail of itself.
    private static let attemptTimeMin = Duration.milliseconds(10)

    /// A server that has bound its socket but does not listen yet gives no sign when it does, so
    /// there is nothing to wait for but the next attempt.
    private static func pause() { _ = poll(nil, 0, 10) }

    /// Whether waiting may help.
    private static func mayPass(_ error: LarderError) -> Bool {
        [.connectionFailed, .timeout, .unavailable].contains(error.code)
    }

    private func ping(_ store: OpenStore) throws {
        let start = ContinuousClock.now
        try store.client.ping()
        let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        let server = store.client.server
        let row: [Value] = [
            .string(server.name), .uuid(server.storeIdentifier),
            .string(server.schemaVersion), .bool(server.isReadOnly),
            .double((milliseconds * 1_000).rounded() / 1_000),
        ]
        var writer = options.format.makeWriter()
        try writer.write(
            all: [row], names: ["server", "store", "schema", "readOnly", "milliseconds"])
    }
}
