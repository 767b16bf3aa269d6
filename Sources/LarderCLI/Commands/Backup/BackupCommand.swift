import ArgumentParser
import FoundationEssentials
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
              larder backup --folder /var/backups/larder --keep 7

            The file has the state of one moment, with every change that was saved before the \
            command. It gets its name when it is complete and has been verified. An existing file \
            is never replaced (status 5), and nothing remains after an error.

            With --folder, the name of the file is that of the socket or the store, followed by \
            the time: school-20261128T071500Z.backup. --keep deletes the oldest files with such \
            names of the same store, after the new one has been verified.

            Prints the path, the size in bytes, the number of the last transaction, and the \
            store's UUID. `larder restore` makes a store of the file.

            The server needs disk space for a copy of the store while the backup is made.
            """)

    @Argument(
        help: ArgumentHelp("File to create, without --folder.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp("Folder in which to create the file.", valueName: "folder"),
        completion: .directory)
    var folder: String?

    @Option(
        help: ArgumentHelp(
            "Number of backups of the store to keep in the folder. Default: all.",
            valueName: "number"))
    var keep: Int?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func validate() throws {
        guard (file == nil) != (folder == nil) else {
            throw ValidationError("either a FILE to create or --folder FOLDER is required")
        }
        if let keep, folder == nil || keep < 1 {
            throw ValidationError("--keep is a number from 1, and requires --folder")
        }
    }

    func run(_ session: StoreSession) throws {
        let folder = try folder.map { path in
            BackupFolder(path, origin: try connection.store ?? connection.socketPath())
        }
        let path = file ?? folder?.newFile(at: .now) ?? ""
        let backup = try session.client.backup(showingProgressTo: path)
        var writer = output.format.makeWriter()
        try writer.write(
            all: [
                [
                    .string(backup.path), .int(backup.byteCount), .int(backup.position.number),
                    .uuid(backup.store),
                ]
            ], names: ["file", "bytes", "transaction", "store"])
        if let folder, let keep { try folder.deleteOldest(keeping: keep, besides: path) }
    }
}
