import ArgumentParser
import LarderModel
import LarderStore

struct ArchiveCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Verify every file of an archive.",
        discussion: """
            EXAMPLES:
              larder archive check /var/backups/school

            Reads all base copies and segments and compares them with their checksums, and checks \
            that none is missing. Prints one line per problem. For an intact archive, it prints \
            nothing and exits with status 0; after a problem, with 74. Needs no server, and may \
            run while larderd writes to the archive.
            """)

    @Argument(
        help: ArgumentHelp("Folder of the archive.", valueName: "folder"),
        completion: .directory)
    var folder: String

    @Option(help: "Output format. Default: table on a terminal, otherwise plain.")
    var output: OutputFormat?

    func run() throws {
        var progress = Progress("verified", .bytes)
        let problems: [LarderError]
        do {
            defer { progress.end() }
            problems = try ArchiveContents.check(folder) {
                progress.show(Int(clamping: $0), of: $1)
            }
        }
        let format = output ?? .standardOutputDefault
        if problems.isEmpty, format.isForPeople { return }
        var writer = format.makeWriter()
        try writer.write(
            all: problems.map { [.string($0.message)] }, names: ["problem"])
        guard !problems.isEmpty else { return }
        throw LarderError(
            .storageFailed, "problems found in the archive: \(problems.count)",
            hint: problems.first?.hint)
    }
}
