import LarderModel
import LarderQuery
import LarderSQL

/// A check of a whole store in one snapshot, and what it has found: SQLite's check first, then the
/// checks of rows, values, search indexes and derived attributes.
///
/// It stops when it has one finding more than a report has. It runs on the connection of a reader,
/// within the reader's budget.
struct StoreCheck {
    let session: ReadSession
    private let converter: ValueConverter
    private var findings: [CheckFinding] = []

    private var layout: Layout { session.layout }
    /// One more than is reported, to find out whether there are more.
    private var isFull: Bool { findings.count > CheckReport.findingsMax }

    init(_ session: ReadSession, _ converter: ValueConverter) {
        self.session = session
        self.converter = converter
    }

    /// Runs all checks in the snapshot that the session has begun.
    ///
    /// - Parameters:
    ///   - wholeFile: Whether SQLite checks all pages of the file, unused ones included, or only
    ///     the tables.
    ///   - isOfThisFormat: Whether the file has all tables.
    mutating func report(
        wholeFile: Bool, isOfThisFormat: Bool
    ) throws(ReadFailure) -> CheckReport {
        let consistency = ConsistencyCheck(layout: layout, isOfThisFormat: isOfThisFormat)
        let tables = wholeFile ? [nil] : consistency.tables.map(Optional.some)
        for table in tables where !isFull { try checkFile(table) }
        for check in consistency.checks where !isFull { try run(check) }
        for entity in layout.schema.entities {
            for attribute in entity.declared.attributes where !isFull {
                try checkValues(of: attribute, entity)
            }
        }
        for table in layout.searchTables where !isFull { try checkSearchTable(table) }
        for derivation in layout.schema.derivations where !derivation.readsTime && !isFull {
            try compare(derivation)
        }
        return CheckReport(
            findings: Array(findings.prefix(CheckReport.findingsMax)), isTruncated: isFull)
    }

    /// - Parameters:
    ///   - location: The property, entity or table; empty for the file.
    ///   - object: The object concerned; nil if there is none.
    mutating func add(
        _ message: String, at location: String, of object: PersistentIdentifier? = nil
    ) {
        findings.append(
            CheckFinding(location: location, uri: object?.uriRepresentation, message: message))
    }

    /// SQLite's own check of a table and its indexes, or of the whole file.
    private mutating func checkFile(_ table: String?) throws(ReadFailure) {
        let statement = try session.statement(
            table.map { "PRAGMA integrity_check(\(name: $0))" } ?? "PRAGMA integrity_check")
        defer { statement.reset() }
        while !isFull, try session.step(statement) {
            let message = statement.string(at: 0)
            if message != "ok" { add(message, at: table ?? "") }
        }
    }

    /// Checks that each value has the form that reading relies on. SQLite checks only whether it is
    /// a text or a blob.
    private mutating func checkValues(
        of attribute: Attribute, _ entity: Entity
    ) throws(ReadFailure) {
        let kind = Column.Kind.attribute(attribute.type)
        guard kind.form == .bytes, attribute.type != .data else { return }
        let column: SQL = "\(name: layout.column(for: attribute, of: entity))"
        let statement = try session.statement(
            """
            SELECT \(name: Layout.keyColumn), \(column) \
            FROM \(name: layout.table(for: entity)) WHERE \(column) IS NOT NULL
            """)
        defer { statement.reset() }
        while !isFull, try session.step(statement) {
            var value = Column(name: attribute.name, kind: kind)
            statement.withBytes(at: 1) { value.append(bytes: $0) }
            if (try? Batch(rowCount: 1, columns: [value]).check()) != nil { continue }
            add(
                "its value is not \(attribute.type.nounWithArticle)",
                at: "\(entity.name).\(attribute.name)",
                of: try object(statement.int64(at: 0), among: entity.name))
        }
    }

    /// Computes a derived attribute of every object and compares it with the stored value.
    private mutating func compare(_ derivation: Derivation) throws(ReadFailure) {
        let plan: DerivationPlan
        do throws(LarderError) {
            plan = try DerivationPlan(
                derivation, isOfOneObject: false, layout: layout, converter: converter)
        } catch {
            throw .failed(error)
        }
        let statement = try session.statement(plan.sql)
        defer { statement.reset() }
        do throws(ReadFailure) {
            try session.bind(plan.values(key: nil, now: 0), to: statement)
            while !isFull, try session.step(statement) {
                let stored = statement.value(at: DerivationPlan.storedColumn)
                let computed = statement.value(at: DerivationPlan.computedColumn)
                if (try? plan.stored(computed)) == stored { continue }
                let key = statement.int64(at: DerivationPlan.keyColumn)
                add(
                    "its value differs from the result of its derivation",
                    at: derivation.qualifiedName,
                    of: PersistentIdentifier(
                        store: session.description.identifier, entityName: derivation.entityName,
                        key: key))
            }
        } catch {
            // SQLite does not report the object.
            guard case .failed(let fault) = error, fault.code == .arithmeticOverflow else {
                throw error
            }
            add("its derivation fails: \(fault.message)", at: derivation.qualifiedName)
        }
    }

    private mutating func run(_ check: ConsistencyCheck.TableCheck) throws(ReadFailure) {
        let statement = try session.statement(check.sql)
        defer { statement.reset() }
        while !isFull, try session.step(statement) {
            var object: PersistentIdentifier?
            if let entityName = check.entityName {
                object = try self.object(statement.int64(at: 0), among: entityName)
            }
            add(check.message, at: check.location, of: object)
        }
    }

    /// An object with the entity in its row, if the schema has that; otherwise with the entity of
    /// the check.
    private func object(
        _ key: Int64, among entityName: String
    ) throws(ReadFailure) -> PersistentIdentifier {
        PersistentIdentifier(
            store: session.description.identifier,
            entityName: try ownEntityName(of: key, among: entityName), key: key)
    }

    private func ownEntityName(
        of key: Int64, among entityName: String
    ) throws(ReadFailure) -> String {
        guard let entity = layout.schema.entity(named: entityName),
            layout.kinds(inTableOf: entity) != nil
        else { return entityName }
        let statement = try session.statement(
            """
            SELECT \(name: Layout.entityColumn) FROM \(name: layout.table(for: entity)) \
            WHERE \(name: Layout.keyColumn) = ?
            """)
        defer { statement.reset() }
        try session.bind([.integer(key)], to: statement)
        guard try session.step(statement) else { return entityName }
        let name = statement.string(at: 0)
        return layout.schema.entity(named: name) == nil ? entityName : name
    }
}
