import ArgumentParser
import LarderModel
import LarderStore

struct ArchiveListCommand: ParsableCommand, PagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print the states to which an archive can restore the store.",
        discussion: """
            EXAMPLES:
              larder archive list /var/backups/school
              larder archive list /var/backups/school --output json

            Prints one line per generation: its number, the first and the last transaction to \
            which the store can be restored, their times, the number of base copies and of \
            segments, and the size. Within a generation, every commit from the first to the last \
            can be restored. Needs no server. The files are not verified: see larder archive check.
            """)

    @Argument(
        help: ArgumentHelp("Folder of the archive.", valueName: "folder"),
        completion: .directory)
    var folder: String

    @Option(help: "Output format. Default: table on a terminal, otherwise plain.")
    var output: OutputFormat?

    func run() throws {
        let contents = try ArchiveContents(of: folder)
        var writer = (output ?? .standardOutputDefault).makeWriter()
        try writer.write(
            all: contents.generations.map { generation in
                [
                    .int(generation.number),
                    generation.transactions.map { .int($0.lowerBound) } ?? .null,
                    generation.transactions.map { .int($0.upperBound) } ?? .null,
                    generation.firstTime.map(Value.date) ?? .null,
                    generation.lastTime.map(Value.date) ?? .null,
                    .int(Int64(generation.baseCount)), .int(Int64(generation.segmentCount)),
                    .int(generation.byteCount),
                ]
            },
            names: [
                "generation", "first", "last", "firstTime", "lastTime", "bases", "segments",
                "bytes",
            ])
    }
}
