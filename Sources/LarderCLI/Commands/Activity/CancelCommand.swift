import ArgumentParser
import LarderModel

struct CancelCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "End a running request, or all running requests of a connection.",
        discussion: """
            EXAMPLES:
              larder cancel 12/5
              larder cancel 12
              larder top --output json | jq -r '.[0].running[] | "\\(.id) \\(.query)"'

            `larder top` has the number of each connection, and the ids of the running requests: \
            12/5 is the request 5 of connection 12. Its client gets the error CANCELLED. Queries, \
            streams, snapshots, feeds, observed queries and backups are ended; a save that waits \
            or commits is not. The number of ended requests is printed.

            Your own requests, and if you are root or the server's user, those of all users, can \
            be ended; with a policy, its right `admin` permits that.
            """)

    @Argument(
        help: ArgumentHelp(
            "Number of the connection, or the id of a request.",
            valueName: "connection[/request]"))
    var target: RequestTarget

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func run(_ session: StoreSession) throws {
        let count = try session.client.endRequests(
            ofConnection: target.connection, request: target.request)
        guard count > 0 else {
            let request = target.request.map { "request \($0)" } ?? "request"
            throw LarderError(
                .objectNotFound, "connection \(target.connection) has no running \(request)",
                hint: "larder top lists what is running")
        }
        var writer = output.format.makeWriter()
        try writer.write(all: [[.int(count)]], names: ["ended"])
    }
}

/// A connection, or one of its requests: `12` or `12/5`.
struct RequestTarget: ExpressibleByArgument {
    let connection: Int64
    /// nil for all.
    let request: UInt64?

    /// Returns nil for any other text. ArgumentParser then reports the argument.
    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let connection = Int64(parts[0]), connection > 0 else {
            return nil
        }
        let request = parts.count == 2 ? UInt64(parts[1]) : nil
        guard parts.count == 1 || (request ?? 0) > 0 else { return nil }
        self.connection = connection
        self.request = request
    }
}
