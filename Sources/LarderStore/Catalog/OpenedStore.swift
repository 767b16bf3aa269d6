import FoundationEssentials
import LarderFiles
import LarderModel
import LarderQuery
import LarderSQL

/// A store file that has been claimed, opened and checked, and created if it was empty.
struct OpenedStore {
    let file: OpenFile
    let log: WatchedFile
    let connection: Connection
    let identifier: UUID
    let schema: Schema
    /// See ``Layout/formerNames``.
    let formerNames: [String: String]
    /// See ``MigrationRecord/formerSchemas``.
    let formerSchemas: [String]
    /// See ``StoreDescription/historyEpoch`` and ``StoreDescription/earlierEpochs``.
    let historyEpoch: Int64
    let earlierEpochs: [EarlierEpoch]
    /// A warning for the administrator about the file; nil if there is none.
    let warning: String?

    /// The time for everything that reads a file of unknown content.
    private static let readTimeMax: Duration = .seconds(30)

    private enum Failure: Error {
        /// An error of SQLite.
        case database(SQLError)
        /// An error that this program found.
        case refused(LarderError)
    }

    /// - Parameter file: The file, if this process has claimed it already.
    static func open(
        path: String, claimed file: OpenFile? = nil, schema: Schema?, options: StoreOptions,
        synchronous: StoreConnection.Synchronous,
        watch: MigrationWatch = MigrationWatch()
    ) throws(LarderError) -> OpenedStore {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw LarderError(.storageFailed, "the path of the store is empty or holds a zero byte")
        }
        // Before anything is created.
        if let schema { try SchemaStorability.check(schema) }
        let createsFile = schema != nil && !options.isReadOnly
        let file =
            if let file {
                file
            } else { try OpenFile(claiming: path, createIfMissing: createsFile) }
        do throws(Failure) {
            return try open(
                path: path, file: file, schema: schema, options: options,
                synchronous: synchronous, watch: watch)
        } catch {
            // The connection has been closed.
            switch error {
            case .refused(let refusal): throw refusal
            case .database(let failure) where failure.condition == .busy:
                throw inUse(path)
            case .database(let failure) where failure.condition == .notADatabase:
                throw LarderError(.notAStore, "\(path) is not a Larder store")
            case .database(let failure) where failure.condition == .interrupted:
                throw LarderError(
                    .storageFailed,
                    "\(path) is damaged (its description takes longer to read than "
                        + "\(readTimeMax))",
                    hint: "restore it from a backup")
            case .database(let failure): throw openingFailure(failure, path)
            }
        }
    }

    /// SQLite's errors name no file.
    private static func openingFailure(_ failure: SQLError, _ path: String) -> LarderError {
        let error = failure.larderError
        switch error.code {
        case .permissionDenied: return FileRights.denied(path, "opened")
        case .readOnly:
            return LarderError(
                .readOnly, "\(path) may not be written\(FileRights.reason(path))",
                hint: needsWriting(path))
        default: return error
        }
    }

    private static func needsWriting(_ path: String) -> String {
        "a store that is only read needs write permission too, for its log; if nobody has it open, "
            + "larder restore \(path) --to NEWFILE makes a copy"
    }

    private static func open(
        path: String, file: OpenFile, schema: Schema?, options: StoreOptions,
        synchronous: StoreConnection.Synchronous,
        watch: MigrationWatch
    ) throws(Failure) -> OpenedStore {
        let isReadOnly = options.isReadOnly
        do {
            let connection = try StoreConnection.open(path)
            connection.setObjectBytesMax(options.objectBytesMax)
            try file.check(connection)
            connection.setBudget(ReadBudget(deadline: .now + readTimeMax))
            // The first read takes the lock against other processes.
            if try connection.integer("PRAGMA page_count") == 0 {
                try create(schema, path: path, options, on: connection)
            } else {
                try checkHeader(of: connection, path: path)
            }
            connection.waitForLocks()
            if connection.isReadOnly {
                throw LarderError(
                    .permissionDenied, "\(path) may not be written\(FileRights.reason(path))",
                    hint: needsWriting(path))
            }
            var (catalog, ownSchema) = try readDescription(
                of: connection, path: path, expected: schema)
            let target = try migrationTarget(from: ownSchema, to: schema, catalog.record, options)
            try connection.execute("PRAGMA journal_mode = WAL")
            // The first read creates the log, which exists as long as there is a connection.
            _ = try connection.integer("SELECT count(*) FROM _larder")
            // The next steps may take long in a large store, and run the layout's statements only.
            connection.setBudget(nil)
            try OpenFile.syncFolder(connection.folder, of: path)
            try StoreConnection.configureWriter(connection, synchronous: synchronous)
            // A store that is only read is not changed.
            if !isReadOnly {
                try upgradeIfNeeded(connection)
                let indexes = try SchemaTable(reading: connection)
                    .missing(Layout(ownSchema).orderIndexes)
                for (_, statement) in indexes { try connection.execute(statement) }
            }
            if let target {
                try Migration.run(
                    on: connection, catalog, from: ownSchema, to: target,
                    isStage: options.isWorkingCopy, watch: watch)
                (catalog, ownSchema) = try readDescription(
                    of: connection, path: path, expected: target)
            }
            let warning = try identify(catalog, file, options, on: connection)
            let current = try Catalog(reading: connection)
            if isReadOnly { try connection.execute("PRAGMA query_only = ON") }
            guard let log = WatchedFile(at: connection.logPath) else {
                throw LarderError(.storageFailed, "the log of \(path) was removed")
            }
            return OpenedStore(
                file: file, log: log, connection: connection, identifier: current.identifier,
                schema: ownSchema, formerNames: catalog.record.aliases,
                formerSchemas: catalog.record.formerSchemas,
                historyEpoch: current.historyEpoch, earlierEpochs: current.earlierEpochs,
                warning: warning)
        } catch let error as SQLError {
            throw .database(error)
        } catch let error as LarderError {
            throw .refused(error)
        } catch {
            preconditionFailure("every error above has one of two types")
        }
    }

    /// Reads the schema table before any other, because it says what the others are.
    private static func readDescription(
        of connection: Connection, path: String, expected: Schema?
    ) throws -> (Catalog, Schema) {
        func check(_ problems: [String]) throws(LarderError) {
            guard !problems.isEmpty else { return }
            throw LarderError(
                .storageFailed, "\(path) is damaged (another program has changed its tables)",
                hint: "restore it from a backup", problems: problems)
        }
        let table = try SchemaTable(reading: connection)
        try check(table.foreignObjects)
        let catalog = try Catalog(reading: connection)
        let schema = try self.schema(of: catalog, expected: expected)
        let format = try connection.integer("PRAGMA user_version") ?? 0
        try check(table.differences(from: Layout(schema), format: format))
        if format >= Catalog.historyFormatVersion { try checkHistory(of: connection, path: path) }
        return (catalog, schema)
    }

    /// Checks the numbers of the first and the last transaction, with which others are computed.
    private static func checkHistory(of connection: Connection, path: String) throws {
        for end in [Layout.firstTransaction, Layout.lastTransaction] {
            guard let number = try connection.integer(end) else { return }
            guard Limits.transactionNumbers.contains(number) else {
                throw LarderError(
                    .storageFailed,
                    "\(path) is damaged (its history has a transaction with the number "
                        + "\(number))",
                    hint: "restore it from a backup")
            }
        }
    }

    /// Assigns a new identifier and begins a new epoch if that is requested, or compares the file
    /// with the recorded one.
    ///
    /// - Returns: a warning; nil if there is none.
    private static func identify(
        _ catalog: Catalog, _ file: OpenFile, _ options: StoreOptions, on connection: Connection
    ) throws(SQLError) -> String? {
        if options.isWorkingCopy { return nil }
        let current = LastFile(connection, file.watched)
        if options.beginsNewEpoch, !options.isReadOnly {
            try connection.execute("BEGIN IMMEDIATE")
            try Catalog.beginEpoch(after: catalog, at: Date(), on: connection)
            try connection.execute("COMMIT")
        }
        if options.assignsNewIdentifier, !options.isReadOnly {
            try connection.execute("BEGIN IMMEDIATE")
            try Catalog.store(identifier: UUID(), on: connection)
            try Catalog.store(current, on: connection)
            try connection.execute("COMMIT")
            return nil
        }
        let last = catalog.lastFile ?? current
        let comparison = last.comparison(with: current, file.watched)
        if !options.isReadOnly, comparison != .copied, catalog.lastFile != current {
            // On a full disk the store can still be read, and the next opening compares again.
            try? Catalog.store(current, on: connection)
        }
        return comparison.warning(current.path, from: last)
    }

    private static func upgradeIfNeeded(_ connection: Connection) throws {
        let version = try connection.integer("PRAGMA user_version") ?? 0
        if version < Catalog.formatVersion { try Catalog.upgrade(connection, from: version) }
    }

    /// Creates the store in one transaction. The file becomes a store or remains empty, also after
    /// a power failure. Closing the connection rolls back an uncommitted transaction.
    private static func create(
        _ schema: Schema?, path: String, _ options: StoreOptions, on connection: Connection
    ) throws {
        guard let schema, !options.isReadOnly else {
            throw LarderError(
                .notAStore, "\(path) is empty and not a store yet",
                hint: "open it for writing, with a schema, to create a store in it")
        }
        let plans = try SchemaStorability.derivationPlans(of: schema)
        if !plans.isEmpty { try StoreFunctions.register(on: connection) }
        try connection.execute("BEGIN EXCLUSIVE")
        // The rollback journal exists now, and the file is still empty. SQLite syncs the folder
        // too, but ignores an error. Then a power failure could remove the journal and leave a part
        // of the changes that it would have rolled back.
        try OpenFile.syncFolder(connection.folder, of: path)
        do throws(SQLError) {
            try Catalog.create(
                for: Layout(schema), preparing: plans.map(\.sql),
                identifier: options.newIdentifier ?? UUID(), created: options.clock(),
                on: connection)
        } catch {
            let plan = plans.first { $0.sql.text == error.sql }
            guard let plan, [.statement, .nestedTooDeep].contains(error.condition) else {
                throw error
            }
            let fault = SchemaStorability.fault(
                of: plan.derivation, in: schema,
                "is nested deeper than the database can follow")
            throw SchemaError(problems: [fault]).larderError
        }
        try connection.execute("COMMIT")
    }

    private static func checkHeader(of connection: Connection, path: String) throws {
        guard try connection.integer("PRAGMA application_id") == Catalog.applicationID else {
            throw LarderError(
                .notAStore, "\(path) is an SQLite database, but not a Larder store")
        }
        let version = try connection.integer("PRAGMA user_version") ?? 0
        guard version <= Catalog.formatVersion else {
            throw Catalog.tooNew(path, version)
        }
        guard version >= 1 else {
            throw LarderError(.storageFailed, "\(path) is damaged (it has format \(version))")
        }
    }

    /// The file's own schema; the expected one if both have the same text.
    private static func schema(of catalog: Catalog, expected: Schema?) throws -> Schema {
        if let expected, expected.canonicalText == catalog.schemaText { return expected }
        let own: Schema
        do {
            own = try SchemaFile.schema(parsing: catalog.schemaText)
        } catch {
            throw LarderError(
                .storageFailed, "the store file is damaged (its schema cannot be read)",
                problems: error.problems.map(\.description))
        }
        if expected == nil { try SchemaStorability.check(own) }
        return own
    }

    /// The schema to which the store has to be migrated; nil if it has the expected one, or
    /// ignores it.
    private static func migrationTarget(
        from own: Schema, to expected: Schema?, _ record: MigrationRecord,
        _ options: StoreOptions
    ) throws -> Schema? {
        guard let expected else { return nil }
        let differences = SchemaDifference.differences(from: own, to: expected)
        if differences.isEmpty { return nil }
        if options.ignoresPastSchemas, record.isPast(expected) { return nil }
        guard options.migrates, !options.isReadOnly else {
            throw LarderError(
                .schemaMismatch, "the schema differs from the store's",
                hint: "`larder schema show` prints the store's; `larder migrate` changes it",
                problems: differences.map(\.description))
        }
        return expected
    }

    private static func inUse(_ path: String) -> LarderError {
        guard let holder = FileHolder.holder(of: path) else {
            return LarderError(.storeInUse, "\(path) is held by another process")
        }
        return LarderError(
            .storeInUse, "\(path) is held by \(holder.description)",
            hint: "connect to that process, or stop it first")
    }
}
