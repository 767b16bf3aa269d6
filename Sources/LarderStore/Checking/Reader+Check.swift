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

    private func ask(
        _ question: ConsistencyCheck.Question, _ findings: inout [CheckFinding],
        atMost findingsMax: Int
    ) throws(ReadFailure) {
        let statement = try session.statement(question.sqlText)
        defer { statement.reset() }
        while findings.count < findingsMax, try session.step(statement) {
            let identifier = question.entityName.map {
                PersistentIdentifier(
                    store: session.description.identifier, entityName: $0,
                    key: statement.int64(at: 0))
            }
            findings.append(
                CheckFinding(
                    place: question.place, uri: identifier?.uriRepresentation,
                    message: question.message))
        }
    }
}
