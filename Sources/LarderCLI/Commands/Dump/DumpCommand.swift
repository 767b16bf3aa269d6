import ArgumentParser
import LarderFiles
import LarderModel
import LarderPrograms

struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Write the schema and all objects as JSON lines.",
        discussion: """
            EXAMPLES:
              larder dump school.dump
              larder dump | zstd > school.dump.zst
              larder dump --store school.store | larder load - --store copy.store

            The dump has the state of one moment, whatever is saved meanwhile. It contains the \
            schema, every object with its attributes, and all links, but not derived attributes, \
            which load computes, versions and the history; larder backup copies those too. A file \
            gets its name when it is complete. An existing file is never replaced (status 5).

            A dump of a served store is made of a backup in a temporary folder (TMPDIR, or /tmp), \
            which needs disk space for a copy of the store there and on the server.
            """)

    @Argument(
        help: ArgumentHelp(
            "File to create. Default: standard output.", valueName: "file"),
        completion: .file())
    var file: String?

    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        if let file { try LarderFiles.NewFile.checkAbsence(of: file) }
        try DumpSource.with(connection) { snapshot in
            var writer = try DumpWriter(snapshot, DumpOutput(file))
            _ = try writer.run()
        }
    }
}
