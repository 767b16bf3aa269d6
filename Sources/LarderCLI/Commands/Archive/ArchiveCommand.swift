import ArgumentParser

struct ArchiveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive",
        abstract: "Inspect the archive that larderd --archive writes.",
        subcommands: [ArchiveListCommand.self, ArchiveCheckCommand.self])
}
