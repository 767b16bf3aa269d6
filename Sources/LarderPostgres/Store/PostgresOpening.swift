#if PostgreSQL
import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

/// Opens a store in a schema of a database, or creates it, in one transaction.
struct PostgresOpening {
    private let connection: PostgresConnection
    private let options: PostgresOptions
    private let deadline: ContinuousClock.Instant

    init(_ connection: PostgresConnection, _ options: PostgresOptions) {
        self.connection = connection
        self.options = options
        deadline = .now + options.openingTimeMax
    }

    /// - Returns: the catalog of the store, or why it cannot be opened.
    /// - Throws: an error of the database.
    func open(_ schema: Schema?) throws(PostgresError) -> Result<PostgresCatalog, LarderError> {
        try run([PostgresStatement("BEGIN"), lock] + options.settings)
        let found = PostgresObjects(
            try rows(PostgresObjects.query, [.text(options.schemaName)]).map(Self.text))
        let result: Result<PostgresCatalog, LarderError>
        if found.lines.isEmpty {
            result = try create(schema)
        } else {
            result = try existing(found, schema)
        }
        if case .success = result {
            try run([PostgresStatement("COMMIT")])
        } else {
            try run([PostgresStatement("ROLLBACK")])
        }
        return result
    }

    /// Two processes that open a store at once must not both create it. The number is that of the
    /// name of the schema.
    private var lock: PostgresStatement {
        PostgresStatement(
            "SELECT pg_advisory_xact_lock(1281455716, pg_catalog.hashtext($1))",
            [.text(options.schemaName)])
    }

    // MARK: Creation

    private func create(
        _ schema: Schema?
    ) throws(PostgresError) -> Result<PostgresCatalog, LarderError> {
        guard let schema else {
            return .failure(
                LarderError(
                    .notAStore, "there is no store in the schema \(options.schemaName)",
                    hint: "pass a schema to create one"))
        }
        let layout = Layout(schema, dialect: .postgres)
        let identifier = UUID()
        let refusals = layout.postgresRefusals(
            ValueConverter(storeIdentifier: identifier, schema: schema, dialect: .postgres))
        guard refusals.isEmpty else {
            return .failure(
                LarderError(
                    .unsupported, "a store in PostgreSQL cannot keep \(refusals[0])",
                    problems: refusals))
        }
        let catalog = PostgresCatalog(
            identifier: identifier, schema: schema, created: options.clock())
        let creation: SQL = "CREATE SCHEMA IF NOT EXISTS \(name: options.schemaName)"
        var statements = [PostgresStatement(creation.text)]
        statements += layout.postgresStatements.map { PostgresStatement($0) }
        statements += catalog.rows.map { row in
            PostgresStatement(
                "INSERT INTO _larder (name, value) VALUES ($1, $2)",
                [.text(row.name), .text(row.value)])
        }
        try run(statements)
        return .success(catalog)
    }

    // MARK: Comparison

    private func existing(
        _ found: PostgresObjects, _ schema: Schema?
    ) throws(PostgresError) -> Result<PostgresCatalog, LarderError> {
        let catalogColumns = [
            "column _larder name text C not null", "column _larder value text C not null",
        ]
        guard Set(found.lines).isSuperset(of: catalogColumns) else {
            return .failure(
                LarderError(
                    .notAStore,
                    "the schema \(options.schemaName) is not that of a store: it has "
                        + "\(found.lines[0])",
                    hint: "use another schema of the database"))
        }
        let rows = try rows("SELECT name, value FROM _larder", [])
        do throws(LarderError) {
            let catalog = try PostgresCatalog(rows)
            let layout = Layout(catalog.schema, dialect: .postgres)
            let differences = found.differences(from: PostgresObjects(layout))
            guard differences.isEmpty else {
                throw LarderError(
                    .storageFailed,
                    "the schema \(options.schemaName) was changed by other means: "
                        + "\(differences[0])", hint: "undo the change",
                    problems: differences)
            }
            try Self.compare(catalog.schema, schema)
            return .success(catalog)
        } catch {
            return .failure(error)
        }
    }

    private static func compare(_ own: Schema, _ expected: Schema?) throws(LarderError) {
        guard let expected else { return }
        let differences = SchemaDifference.differences(from: own, to: expected)
        guard differences.isEmpty else {
            throw LarderError(
                .schemaMismatch, "the schema differs from the store's",
                hint: "a store in PostgreSQL cannot be migrated yet",
                problems: differences.map(\.description))
        }
    }

    // MARK: Statements

    private func run(_ statements: [PostgresStatement]) throws(PostgresError) {
        for result in try connection.run(statements, deadline: deadline) { _ = try result.get() }
    }

    private func rows(
        _ text: String, _ parameters: [PostgresValue]
    ) throws(PostgresError) -> [[PostgresValue]] {
        try connection.run(PostgresStatement(text, parameters), deadline: deadline).rows
    }

    private static func text(_ row: [PostgresValue]) -> String {
        if case .text(let text)? = row.first { text } else { "" }
    }
}
#endif
