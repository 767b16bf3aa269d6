import FoundationEssentials
import LarderModel
import LarderSQL

/// The description of a store in its file: the table `_larder`, and two numbers in the file header.
struct Catalog: Sendable {
    /// "Lard", in the header of every store.
    static let applicationID: Int64 = 0x4c61_7264
    /// The format that this program writes, and the newest that it reads.
    static let formatVersion: Int64 = 7
    /// The first format with the tables of the newest one, so that all of such a file can be read.
    static let tablesFormatVersion: Int64 = 6
    /// The first format with a history.
    static let historyFormatVersion: Int64 = 2

    let identifier: UUID
    /// The schema as canonical JSON.
    let schemaText: String
    /// nil in a store that was never opened by a version that records it.
    let lastFile: LastFile?
    /// The time of creation, or of restoring, in microseconds since 2001.
    let historyEpoch: Int64
    /// The traces of earlier schemas of the store.
    let record: MigrationRecord
    /// See ``StoreDescription/earlierEpochs``.
    let earlierEpochs: [EarlierEpoch]

    private enum Name {
        static let store = "store"
        static let schema = "schema"
        static let created = "created"
        static let file = "file"
        static let deletedHistory = "history"
        static let record = "migrations"
        static let earlier = "earlier"
        static let archive = "archive"
    }

    /// The number of the last transaction that was deleted from the history; no row if none was.
    static let readDeletedHistory: SQL =
        "SELECT value FROM _larder WHERE name = \(literal: Name.deletedHistory)"
    static let storeDeletedHistory: SQL = """
        INSERT OR REPLACE INTO _larder (name, value) VALUES (\(literal: Name.deletedHistory), ?)
        """

    /// Overwrites a value with itself, so that a commit has something to write.
    static let probeText: SQL =
        "UPDATE _larder SET value = value WHERE name = \(literal: Name.store)"

    /// The archive that has every commit, except those that are still in the log; no row if there
    /// is none. A program that writes without an archive deletes the row with its first commit.
    static let readArchive: SQL =
        "SELECT value FROM _larder WHERE name = \(literal: Name.archive)"
    static let storeArchive: SQL =
        "INSERT OR REPLACE INTO _larder (name, value) VALUES (\(literal: Name.archive), ?)"
    static let deleteArchive: SQL =
        "DELETE FROM _larder WHERE name = \(literal: Name.archive)"

    static let createCatalog: SQL =
        "CREATE TABLE _larder (name TEXT PRIMARY KEY, value) WITHOUT ROWID"

    /// Creates every table and the catalog, in the open transaction.
    ///
    /// - Parameter statements: Statements that SQLite must be able to prepare.
    static func create(
        for layout: Layout, preparing statements: [SQL], identifier: UUID, created: Date,
        on connection: Connection
    ) throws(SQLError) {
        try connection.execute("PRAGMA application_id = \(applicationID)")
        try connection.execute("PRAGMA user_version = \(formatVersion)")
        try connection.execute(createCatalog)
        for sql in layout.createStatements { try connection.execute(sql) }
        for sql in Layout.historyStatements + Layout.outcomeStatements {
            try connection.execute(sql)
        }
        for sql in statements { _ = try connection.prepare(sql) }
        let insert = try connection.prepare("INSERT INTO _larder (name, value) VALUES (?, ?)")
        try insert.run([.text(Name.store), .text(identifier.uuidString)])
        try insert.run([.text(Name.schema), .text(layout.schema.canonicalText)])
        try insert.run([.text(Name.created), .real(created.timeIntervalSinceReferenceDate)])
    }

    /// Upgrades a store of an older format, in one transaction. Format 1 had no history; formats 1
    /// and 2 had no outcomes; 4 and 5 only permit more tables and indexes than 3. Format 7 permits
    /// values of updated objects in the history.
    static func upgrade(_ connection: Connection, from version: Int64) throws(SQLError) {
        let statements: [SQL] =
            switch version {
            case 1: Layout.historyStatements + Layout.outcomeStatements
            case 2: Layout.historyUpgradeStatements + Layout.outcomeStatements
            case tablesFormatVersion...: []
            default: Layout.outcomeUpgradeStatements
            }
        try connection.execute("BEGIN EXCLUSIVE")
        do throws(SQLError) {
            for sql in statements { try connection.execute(sql) }
            try connection.execute("PRAGMA user_version = \(formatVersion)")
            try connection.execute("COMMIT")
        } catch {
            if !connection.autocommit { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    static func tooNew(_ path: String, _ version: Int64) -> LarderError {
        LarderError(
            .storeTooNew,
            "\(path) has format \(version), and this program reads formats up to \(formatVersion)",
            hint: "use a newer larderd")
    }

    /// Begins a new epoch, because the store is a restored backup, and records the current one as
    /// an earlier one. An older version of this program knows the new epoch too, which is the time
    /// of creation, but no earlier one.
    static func beginEpoch(
        after catalog: Catalog, at time: Date, on connection: Connection
    ) throws(SQLError) {
        let last = try connection.integer(Layout.lastTransaction) ?? 0
        let earlier =
            catalog.earlierEpochs + [EarlierEpoch(epoch: catalog.historyEpoch, last: last)]
        // Later epochs are greater, whatever the clock says.
        let epoch = max(
            Int64(clamped: (time.timeIntervalSinceReferenceDate * 1e6).rounded()),
            catalog.historyEpoch + 1)
        let statement = try connection.prepare("INSERT OR REPLACE INTO _larder VALUES (?, ?)")
        try statement.run([.text(Name.created), .real(Double(epoch) / 1e6)])
        let text = earlier.map { "\($0.epoch) \($0.last)" }.joined(separator: ",")
        try statement.run([.text(Name.earlier), .text(text)])
        // Its commits are not those that follow in the archive of the original.
        try connection.execute(deleteArchive)
    }

    /// - Returns: none for a text that is damaged. Tokens of earlier epochs are refused then.
    private static func earlierEpochs(_ text: String) -> [EarlierEpoch] {
        let numbers = text.split(separator: ",").map { $0.split(separator: " ").map { Int64($0) } }
        var epochs: [EarlierEpoch] = []
        for pair in numbers {
            guard pair.count == 2, let epoch = pair[0], let last = pair[1] else { return [] }
            epochs.append(EarlierEpoch(epoch: epoch, last: last))
        }
        return epochs
    }

    /// Records the file that the store is in.
    static func store(_ file: LastFile, on connection: Connection) throws(SQLError) {
        let statement = try connection.prepare("INSERT OR REPLACE INTO _larder VALUES (?, ?)")
        try statement.run([.text(Name.file), .text(file.text)])
    }

    /// Gives the store a new identifier. Nothing else in the file contains it.
    static func store(identifier: UUID, on connection: Connection) throws(SQLError) {
        let statement = try connection.prepare("UPDATE _larder SET value = ? WHERE name = ?")
        try statement.run([.text(identifier.uuidString), .text(Name.store)])
    }

    /// Reads the catalog of a file whose header has been checked.
    init(reading connection: Connection) throws(LarderError) {
        var values: [String: String] = [:]
        var created = 0.0
        do throws(SQLError) {
            let statement = try connection.prepare("SELECT name, value FROM _larder")
            while try statement.step() {
                let name = statement.string(at: 0)
                values[name] = statement.string(at: 1)
                if name == Name.created { created = statement.double(at: 1) }
            }
        } catch {
            throw error.larderError
        }
        guard let identifier = values[Name.store].flatMap(UUID.init(uuidString:)),
            let schemaText = values[Name.schema]
        else {
            throw LarderError(
                .storageFailed, "the store file is damaged (its catalog is incomplete)",
                hint: "restore it from a backup")
        }
        self.identifier = identifier
        self.schemaText = schemaText
        lastFile = values[Name.file].flatMap(LastFile.init)
        historyEpoch = Int64(exactly: (created * 1e6).rounded()) ?? 0
        earlierEpochs = values[Name.earlier].map(Self.earlierEpochs) ?? []
        record = values[Name.record].flatMap(MigrationRecord.init) ?? MigrationRecord()
    }

    /// Stores another schema, and what has to be known of earlier ones.
    static func store(
        schema: Schema, _ record: MigrationRecord, on connection: Connection
    ) throws(SQLError) {
        let statement = try connection.prepare("INSERT OR REPLACE INTO _larder VALUES (?, ?)")
        try statement.run([.text(Name.schema), .text(schema.canonicalText)])
        try statement.run([.text(Name.record), .text(record.text)])
    }
}
