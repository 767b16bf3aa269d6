import ArgumentParser
import LarderModel

struct StatsShowCommand: StoreCommand, PagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print statistics of the store and the server.",
        discussion: """
            EXAMPLES:
              larder stats show
              larder stats --output json | jq 'map({(.name): .value}) | add'
            """)

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func run(_ session: StoreSession) throws {
        let statistics = try session.client.statistics()
        var writer = output.format.makeWriter()
        try writer.write(
            all: statistics.map { [.string($0.name), $0.value] }, names: ["name", "value"])
    }
}
