import LarderModel
import LarderQuery

extension Reader {
    func check(budget: ReadBudget) throws(ReadFailure) -> CheckReport {
        try check(budget: budget, wholeFile: false)
    }

    /// Runs SQLite's check and then the store's own checks, in one snapshot.
    ///
    /// - Parameter wholeFile: Whether SQLite checks all pages of the file, unused ones included, or
    ///   only the tables.
    func check(budget: ReadBudget, wholeFile: Bool) throws(ReadFailure) -> CheckReport {
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
        try session.beginSnapshot()
        defer { session.endSnapshot() }
        let consistency = ConsistencyCheck(
            layout: session.layout,
            isOfThisFormat: try pragma("user_version") >= Catalog.tablesFormatVersion)
        var findings: [CheckFinding] = []
        // One more than is reported, to find out whether there are more.
        let findingsMax = CheckReport.findingsMax + 1
        let tables = wholeFile ? [nil] : consistency.tables.map(Optional.some)
        for table in tables where findings.count < findingsMax {
            try checkFile(table, &findings, atMost: findingsMax)
        }
        for check in consistency.checks where findings.count < findingsMax {
            try run(check, &findings, atMost: findingsMax)
        }
        for entity in session.layout.schema.entities {
            for attribute in entity.declared.attributes where findings.count < findingsMax {
                try checkValues(of: attribute, entity, &findings, atMost: findingsMax)
            }
        }
        for table in session.layout.searchTables where findings.count < findingsMax {
            try checkSearchTable(table, &findings)
        }
        for derivation in session.layout.schema.derivations
        where !derivation.readsTime && findings.count < findingsMax {
            try compare(derivation, &findings, atMost: findingsMax)
        }
        return CheckReport(
            findings: Array(findings.prefix(CheckReport.findingsMax)),
            isTruncated: findings.count == findingsMax)
    }

    /// SQLite's own check of a table and its indexes, or of the whole file.
    private func checkFile(
        _ table: String?, _ findings: inout [CheckFinding], atMost findingsMax: Int
    ) throws(ReadFailure) {
        let statement = try session.statement(
            table.map { "PRAGMA integrity_check(\(name: $0))" } ?? "PRAGMA integrity_check")
        defer { statement.reset() }
        while findings.count < findingsMax, try session.step(statement) {
            let message = statement.string(at: 0)
            if message != "ok" {
                findings.append(CheckFinding(location: table ?? "", message: message))
            }
        }
    }

    /// The number of the last transaction; 0 if there is none.
    func lastTransaction() throws(ReadFailure) -> Int64 {
        // A store of format 1 that is open for reading only has no history.
        guard try pragma("user_version") > 1 else { return 0 }
        let statement = try session.statement(Layout.lastTransaction)
        defer { statement.reset() }
        return try session.step(statement) ? statement.int64(at: 0) : 0
    }

    /// Checks that each value has the form that reading relies on. SQLite checks only whether it is
    /// a text or a blob.
    private func checkValues(
        of attribute: Attribute, _ entity: Entity, _ findings: inout [CheckFinding],
        atMost findingsMax: Int
    ) throws(ReadFailure) {
        let kind = Column.Kind.attribute(attribute.type)
        guard kind.form == .bytes, attribute.type != .data else { return }
        let column: SQL = "\(name: session.layout.column(for: attribute, of: entity))"
        let statement = try session.statement(
            """
            SELECT \(name: Layout.keyColumn), \(column) \
            FROM \(name: session.layout.table(for: entity)) WHERE \(column) IS NOT NULL
            """)
        defer { statement.reset() }
        while findings.count < findingsMax, try session.step(statement) {
            var value = Column(name: attribute.name, kind: kind)
            statement.withBytes(at: 1) { value.append(bytes: $0) }
            if (try? Batch(rowCount: 1, columns: [value]).check()) != nil { continue }
            let key = statement.int64(at: 0)
            let identifier = PersistentIdentifier(
                store: session.description.identifier,
                entityName: try ownEntityName(of: key, among: entity.name), key: key)
            findings.append(
                CheckFinding(
                    location: "\(entity.name).\(attribute.name)",
                    uri: identifier.uriRepresentation,
                    message: "its value is not \(attribute.type.nounWithArticle)"))
        }
    }

    /// Computes a derived attribute of every object and compares it with the stored value.
    private func compare(
        _ derivation: Derivation, _ findings: inout [CheckFinding], atMost findingsMax: Int
    ) throws(ReadFailure) {
        let plan: DerivationPlan
        do throws(LarderError) {
            plan = try DerivationPlan(
                derivation, isOfOneObject: false, layout: session.layout, converter: converter)
        } catch {
            throw .failed(error)
        }
        func add(_ key: Int64?, _ message: String) {
            let identifier = key.map {
                PersistentIdentifier(
                    store: session.description.identifier, entityName: derivation.entityName,
                    key: $0)
            }
            findings.append(
                CheckFinding(
                    location: derivation.qualifiedName, uri: identifier?.uriRepresentation,
                    message: message))
        }
        let statement = try session.statement(plan.sql)
        defer { statement.reset() }
        do throws(ReadFailure) {
            try session.bind(plan.values(key: nil, now: 0), to: statement)
            while findings.count < findingsMax, try session.step(statement) {
                let stored = statement.value(at: DerivationPlan.storedColumn)
                if (try? plan.computed(statement)) == stored { continue }
                let key = statement.int64(at: DerivationPlan.keyColumn)
                add(key, "its value differs from the result of its derivation")
            }
        } catch {
            // SQLite does not report the object.
            guard case .failed(let fault) = error, fault.code == .arithmeticOverflow else {
                throw error
            }
            add(nil, "its derivation fails: \(fault.message)")
        }
    }

    private func run(
        _ check: ConsistencyCheck.TableCheck, _ findings: inout [CheckFinding],
        atMost findingsMax: Int
    ) throws(ReadFailure) {
        let statement = try session.statement(check.sql)
        defer { statement.reset() }
        while findings.count < findingsMax, try session.step(statement) {
            var identifier: PersistentIdentifier?
            if let entityName = check.entityName {
                let key = statement.int64(at: 0)
                identifier = PersistentIdentifier(
                    store: session.description.identifier,
                    entityName: try ownEntityName(of: key, among: entityName), key: key)
            }
            findings.append(
                CheckFinding(
                    location: check.location, uri: identifier?.uriRepresentation,
                    message: check.message))
        }
    }

    /// The entity in the object's row if the schema has it; otherwise the entity of the check.
    private func ownEntityName(
        of key: Int64, among entityName: String
    ) throws(ReadFailure) -> String {
        let schema = session.layout.schema
        guard let entity = schema.entity(named: entityName),
            session.layout.kinds(inTableOf: entity) != nil
        else { return entityName }
        let statement = try session.statement(
            """
            SELECT \(name: Layout.entityColumn) FROM \(name: session.layout.table(for: entity)) \
            WHERE \(name: Layout.keyColumn) = ?
            """)
        defer { statement.reset() }
        try session.bind([.integer(key)], to: statement)
        guard try session.step(statement) else { return entityName }
        let name = statement.string(at: 0)
        return schema.entity(named: name) == nil ? entityName : name
    }
}
