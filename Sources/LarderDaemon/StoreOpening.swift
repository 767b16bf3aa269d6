import LarderModel
import LarderPrograms
import LarderQuery
import LarderServer
import LarderStore
import Logging

/// Opens the store that the options name: a file, memory, or a schema of a database.
struct StoreOpening {
    /// A store, and what the server needs to know of where it is.
    struct Opened {
        let backend: any StoreBackend
        /// For spool files and copies.
        let folder: String
        let warning: String?

        init(_ backend: any StoreBackend, folder: String, warning: String? = nil) {
            self.backend = backend
            self.folder = folder
            self.warning = warning
        }
    }

    /// The start timeout that systemd is asked for: the recovery of a large WAL may take long.
    private static let timeMax: Duration = .seconds(300)

    let options: DaemonCommand
    let notification: Notification
    let logger: Logger

    func open() throws -> Opened {
        let schema = try options.schema.map { (path) throws(LarderError) in
            try Self.readSchema(at: path)
        }
        let opened: Opened
        switch options.location {
        case .memory:
            guard let schema else { preconditionFailure("the options were validated") }
            let store = try Store.inMemory(schema: schema)
            return Opened(store, folder: store.folder)
        case .file(let path):
            report("opening the store")
            let store = try open(path, schema)
            opened = Opened(store, folder: store.folder, warning: store.warning)
        case .database(let address):
            opened = try openDatabase(address, schema)
        }
        if let schema, let file = options.schema {
            warnIfIgnored(schema, of: file, by: opened.backend.storeDescription.schema)
        }
        return opened
    }

    /// Tells systemd what the start waits for, and that it may take longer.
    func report(_ status: String) {
        notification.status(status)
        notification.extendTime(by: Self.timeMax)
    }

    private func open(_ path: String, _ schema: Schema?) throws(LarderError) -> Store {
        var storeOptions = StoreOptions(
            synchronous: options.synchronous, isReadOnly: options.readOnly,
            migrates: options.migrate)
        storeOptions.objectBytesMax = options.maxObject << 20
        storeOptions.ignoresPastSchemas = true
        return try Store.open(
            path: path, schema: schema, options: storeOptions,
            archive: options.archiveOptions,
            progress: { progress in
                logger.notice("migration: \(progress.step)")
                report("migrating the store: \(progress.step)")
            },
            reportArchive: { event in
                logger.log(level: event.kind == .failure ? .error : .notice, "\(event.message)")
                // The status line has the last failure until it is over.
                if event.kind != .information { notification.status(event.message) }
            })
    }

    /// A store that was migrated while it was served may have another schema than the file, which
    /// nobody has replaced (docs/decisions/0056-past-schema-files.md).
    private func warnIfIgnored(_ schema: Schema, of file: String, by current: Schema) {
        guard schema.fingerprint != current.fingerprint else { return }
        logger.warning(
            """
            the schema file \(file) is ignored: the store had this schema, version \
            \(schema.version), and was migrated to version \(current.version); replace the file \
            with the output of `larder schema show --output json`
            """)
    }

    /// - Throws: `malformedSchema`, also if the file cannot be read: `storageFailed` would mean
    ///   the store.
    static func readSchema(at path: String) throws(LarderError) -> Schema {
        do throws(LarderError) {
            return try SchemaDocument.read(InputFile(path))
        } catch {
            var failure = error
            failure.code = .malformedSchema
            throw failure
        }
    }
}
