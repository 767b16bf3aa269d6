import ArgumentParser
import LarderModel

struct HistoryTokenCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print the current token: the position after the newest transaction.",
        discussion: """
            EXAMPLES:
              token=$(larder history token)
              larder history --after "$token"

            To mirror a store, take the token first, then read the objects, and then follow the \
            history after the token. Transactions between the first two steps are then read twice, \
            but none is missed.
            """)

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func run(_ session: StoreSession) throws {
        let token = try session.client.currentToken()
        if output.format.isForPeople {
            var plain = PlainWriter()
            return try plain.write(all: [[.string(token.description)]], names: ["token"])
        }
        var writer = output.format.makeWriter()
        try writer.write(all: [[.string(token.description)]], names: ["token"])
    }
}
