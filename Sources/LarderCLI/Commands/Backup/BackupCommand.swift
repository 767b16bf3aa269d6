import ArgumentParser
import LarderClient
import LarderModel

struct BackupCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Make a backup of the store while it is used.",
        discussion: """
            EXAMPLES:
              larder backup "school-$(date +%F).backup"
              larder backup --store school.store school.backup

            The file has the state of one moment, with every change that was saved before the \
            command. It gets its name when it is complete and has been verified. An existing file \
            is never replaced (status 5), and nothing remains after an error.

            Prints the path, the size in bytes, the number of the last transaction, and the \
            store's UUID. `larder restore` makes a store of the file.

            The server needs disk space for a copy of the store while the backup is made.
            """)

    @Argument(
        help: ArgumentHelp("File to create.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func run(_ session: StoreSession) throws {
        let backup = try session.client.backup(to: file)
        var writer = output.format.makeWriter()
        try writer.write(
            all: [
                [
                    .string(backup.path), .int(backup.byteCount), .int(backup.position.number),
                    .uuid(backup.store),
                ]
            ], names: ["file", "bytes", "transaction", "store"])
    }
}
