#if PostgreSQL
import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

/// A store in one schema of a PostgreSQL database. `decisions/0073` describes it.
///
/// It has what is fixed while the store is open: the address, the schema, and the layout of its
/// tables. Connections belong to their users: one to the writer, one to each reader.
package final class PostgresStore: StoreBackend {
    package let storeDescription: StoreDescription
    let layout: Layout
    let options: PostgresOptions
    let formerValueCounters = FormerValues.Counters()
    private let address: PostgresAddress

    private init(
        _ address: PostgresAddress, _ options: PostgresOptions, _ catalog: PostgresCatalog
    ) {
        self.address = address
        self.options = options
        layout = Layout(catalog.schema, dialect: .postgres)
        storeDescription = StoreDescription(
            identifier: catalog.identifier, schema: catalog.schema,
            fingerprint: catalog.schema.fingerprint, isReadOnly: false,
            historyEpoch: catalog.historyEpoch)
    }

    /// Opens the store in a schema of a database, or creates it there if the schema does not exist
    /// or has nothing in it.
    ///
    /// - Parameter schema: The schema of the store; nil uses the schema of an existing store.
    /// - Throws: `notAStore` if something else is in the schema of the database, `storeTooNew`,
    ///   `schemaMismatch` with every difference, `storageFailed` if the tables were changed by
    ///   other means, `unsupported` for a schema with something that the store cannot keep, or an
    ///   error of the database.
    package static func open(
        _ address: PostgresAddress, schema: Schema?, options: PostgresOptions = PostgresOptions()
    ) throws(LarderError) -> PostgresStore {
        let catalog: Result<PostgresCatalog, LarderError>
        do throws(PostgresError) {
            let connection = try PostgresConnection.open(
                address, deadline: .now + options.openingTimeMax)
            catalog = try PostgresOpening(connection, options).open(schema)
        } catch {
            throw error.larderError
        }
        return PostgresStore(address, options, try catalog.get())
    }

    /// A connection whose statements find the store's tables first.
    func openConnection(
        deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> PostgresConnection {
        let connection = try PostgresConnection.open(address, deadline: deadline)
        for result in try connection.run(options.settings, deadline: deadline) {
            _ = try result.get()
        }
        return connection
    }

    /// Seconds since 2001.
    var now: Double { options.clock().timeIntervalSinceReferenceDate }

    var valueConverter: ValueConverter {
        ValueConverter(
            storeIdentifier: storeDescription.identifier, schema: storeDescription.schema,
            clock: options.clock, dialect: .postgres)
    }

    // MARK: StoreBackend

    package func plan(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> any QueryPlan {
        try QueryPlanner(layout: layout, converter: valueConverter).plan(query, parameters)
    }

    package func makeReader() throws(LarderError) -> any StoreReader { PostgresReader(self) }

    package func makeWriter() throws(LarderError) -> any StoreWriter {
        try PostgresWriter(self)
    }

    package func makeCopy(in folder: String) throws(LarderError) -> any StoreCopy {
        throw Self.noCopies
    }

    package var logByteCount: Int { 0 }

    package var readsWait: Bool { true }

    static let noCopies = LarderError(
        .unsupported, "a store in PostgreSQL has no backups of its own",
        hint: "use pg_basebackup or pg_dump")
}

/// How a store in PostgreSQL is opened.
package struct PostgresOptions: Sendable {
    /// The schema of the database with the store's tables.
    package var schemaName: String
    package var clock: @Sendable () -> Date
    /// The time for connecting, and for creating or comparing the tables.
    package var openingTimeMax: Duration

    package init(
        schemaName: String = "larder", clock: @escaping @Sendable () -> Date = { Date() },
        openingTimeMax: Duration = .seconds(60)
    ) {
        self.schemaName = schemaName
        self.clock = clock
        self.openingTimeMax = openingTimeMax
    }

    /// The statements with which each connection begins. A table may have the name of one of
    /// PostgreSQL's own, so the store's schema comes first.
    var settings: [PostgresStatement] {
        let path: SQL = "SET search_path = \(name: schemaName), pg_catalog, pg_temp"
        return [
            PostgresStatement(path.text),
            PostgresStatement("SET standard_conforming_strings = on"),
            PostgresStatement("SET default_transaction_read_only = off"),
        ]
    }
}
#endif
