import ArgumentParser
import Glibc
import LarderFiles
import LarderModel
import LarderPrograms

struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Store the objects of a dump and print their number.",
        discussion: """
            EXAMPLES:
              larder load school.dump --store new.store
              larder load school.dump
              larder load school.dump --upsert
              zstdcat school.dump.zst | larder load - --store new.store

            With --store and a file that does not exist, creates a store with the schema of the \
            dump. It gets its name when everything is stored; after an error nothing remains. \
            Otherwise the objects are added to those of the store, whose schema must have every \
            entity and property of the dump. All differences are reported before anything is stored.

            Each object gets a new identifier, and the links between the objects of the dump are \
            kept. Versions begin at 1.

            The dump is committed in transactions of \(DumpLoader.linesMax) lines (or 1 MiB). \
            After an error, the hint has the number of stored objects. With --atomic, the dump is \
            one transaction; it may have 64 MiB of text and 250,000 changes. With --upsert, an \
            object whose unique values are already in the store updates that object, and its lists \
            get the objects of the dump in addition to their own.
            """)

    @Argument(
        help: ArgumentHelp("Dump to load; - for standard input.", valueName: "file"),
        completion: .file())
    var file: String

    @Flag(help: "Update the objects that already have the unique values.")
    var upsert = false

    @Flag(help: "Load the whole dump in one transaction, or nothing of it.")
    var atomic = false

    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func run() throws {
        let reader = try DumpReader(
            InputFile(file), bytesMax: atomic ? LineReader.changeSetBytesMax : nil)
        let count: Int64
        if let path = connection.store, access(path, F_OK) != 0 {
            count = try create(path, reader)
        } else {
            count = try StoreSession.with(connection, author: authorOption.author) {
                try load(reader, $0)
            }
        }
        var writer = output.format.makeWriter()
        try writer.write(number: count, name: "loaded", output.format)
    }

    private func load(_ reader: DumpReader, _ session: StoreSession) throws -> Int64 {
        var loader = try DumpLoader(
            reader, session, DumpLoader.Options(isAtomic: atomic, updatesExisting: upsert))
        return try loader.run().objectCount
    }

    /// Loads the dump into a new store, which gets its name when it is complete.
    private func create(_ path: String, _ reader: DumpReader) throws -> Int64 {
        let schema =
            try connection.schema.map { try SchemaDocument.read(InputFile($0)) }
            ?? reader.header.schema
        for ending in ["-wal", "-journal"] {
            try LarderFiles.NewFile.checkAbsence(of: path + ending)
        }
        let file = try LarderFiles.NewFile(at: path, isNamed: true)
        guard let temporary = file.temporaryPath else {
            preconditionFailure("a named file has a name")
        }
        do {
            let count = try StoreSession.with(
                InProcessServer(storePath: temporary, schema: schema), connection,
                author: authorOption.author
            ) { try load(reader, $0) }
            try checkLog(of: temporary)
            try file.sync()
            try file.publish()
            return count
        } catch var error as LarderError {
            // The user knows neither the temporary file nor its contents.
            error.message = error.message.replacing(temporary, with: path)
            error.hint = error.hint.map { $0.replacing(temporary, with: path) }
            throw error.adding(hint: "\(path) was not created")
        }
    }

    /// The store is renamed without its log, so that nothing may be left in one.
    private func checkLog(of path: String) throws {
        var status = stat()
        guard stat(path + "-wal", &status) == 0 else { return }
        guard status.st_size == 0 else {
            throw LarderError(
                .storageFailed, "the log of \(path) could not be written to the store",
                hint: "load the dump again")
        }
        unlink(path + "-wal")
    }
}
