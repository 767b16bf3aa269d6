import LarderModel

extension Reader {
    /// Asks SQLite of each table, and then our own questions, in one snapshot.
    func check(budget: ReadBudget) throws(ReadFailure) -> CheckReport {
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
        try session.beginSnapshot()
        defer { session.endSnapshot() }
        let check = ConsistencyCheck(
            layout: session.layout,
            isOfThisFormat: try pragma("user_version") == Catalog.formatVersion)
        var findings: [CheckFinding] = []
        // One more than is told, so that it is known whether there are more.
        let findingsMax = CheckReport.findingsMax + 1
        for table in check.tables where findings.count < findingsMax {
            try checkFile(table, &findings, atMost: findingsMax)
        }
        for question in check.questions where findings.count < findingsMax {
            try ask(question, &findings, atMost: findingsMax)
        }
        for derivation in session.layout.schema.derivations
        where !derivation.readsTime && findings.count < findingsMax {
            try compare(derivation, &findings, atMost: findingsMax)
        }
        return CheckReport(
            findings: Array(findings.prefix(CheckReport.findingsMax)),
            isCut: findings.count == findingsMax)
    }

    /// SQLite's own check of a table and its indexes.
    private func checkFile(
        _ table: String, _ findings: inout [CheckFinding], atMost findingsMax: Int
    ) throws(ReadFailure) {
        let statement = try session.statement("PRAGMA integrity_check(\(SQL.quoted(table)))")
        defer { statement.reset() }
        while findings.count < findingsMax, try session.step(statement) {
            let message = statement.string(at: 0)
            if message != "ok" { findings.append(CheckFinding(place: table, message: message)) }
        }
    }

    /// Computes a derived attribute of every object, and compares.
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
                    place: derivation.qualifiedName, uri: identifier?.uriRepresentation,
                    message: message))
        }
        let statement = try session.statement(plan.text)
        defer { statement.reset() }
        do throws(ReadFailure) {
            try session.bind(plan.bindings(key: nil, now: 0), to: statement)
            while findings.count < findingsMax, try session.step(statement) {
                let stored = statement.value(at: DerivationPlan.storedColumn)
                if (try? plan.computed(statement)) == stored { continue }
                let key = statement.int64(at: DerivationPlan.keyColumn)
                add(key, "its value is not the one that its derivation gives")
            }
        } catch {
            // SQLite does not say of which object.
            guard case .failed(let fault) = error, fault.code == .arithmeticOverflow else {
                throw error
            }
            add(nil, "its derivation fails: \(fault.message)")
        }
    }

    private func ask(
        _ question: ConsistencyCheck.Question, _ findings: inout [CheckFinding],
        atMost findingsMax: Int
    ) throws(ReadFailure) {
        let statement = try session.statement(question.sqlText)
        defer { statement.reset() }
        while findings.count < findingsMax, try session.step(statement) {
            var identifier: PersistentIdentifier?
            if let entityName = question.entityName {
                let key = statement.int64(at: 0)
                identifier = PersistentIdentifier(
                    store: session.description.identifier,
                    entityName: try ownEntityName(of: key, among: entityName), key: key)
            }
            findings.append(
                CheckFinding(
                    place: question.place, uri: identifier?.uriRepresentation,
                    message: question.message))
        }
    }

    /// The entity of an object as its row has it, if the schema knows that; else the one asked of.
    private func ownEntityName(
        of key: Int64, among entityName: String
    ) throws(ReadFailure) -> String {
        let schema = session.layout.schema
        guard let entity = schema.entity(named: entityName),
            session.layout.kinds(inTableOf: entity) != nil
        else { return entityName }
        let statement = try session.statement(
            "SELECT \(SQL.quoted(Layout.entityColumn)) "
                + "FROM \(SQL.quoted(session.layout.table(for: entity))) "
                + "WHERE \(SQL.quoted(Layout.keyColumn)) = ?")
        defer { statement.reset() }
        try session.bind([.integer(key)], to: statement)
        guard try session.step(statement) else { return entityName }
        let name = statement.string(at: 0)
        return schema.entity(named: name) == nil ? entityName : name
    }
}
