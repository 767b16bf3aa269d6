import LarderModel

extension Reader {
    /// Compares an index of parts of texts with the texts, in the snapshot of the check.
    ///
    /// Both sides are reduced to a count and a sum of hashes, because an index of many texts has
    /// more terms than memory holds. So the finding names the attribute and not the objects.
    func checkSearchTable(
        _ table: SearchTable, _ findings: inout [CheckFinding]
    ) throws(ReadFailure) {
        let name = "_terms"
        try onTemporaryTables(
            """
            CREATE VIRTUAL TABLE temp.\(name: name) \
            USING fts5vocab(main, \(name: table.name), instance)
            """)
        defer { try? onTemporaryTables("DROP TABLE temp.\(name: name)") }
        guard try sumOfTerms("SELECT doc, term FROM temp.\(name: name)") != sumOfTexts(table) else {
            return
        }
        findings.append(
            CheckFinding(
                location: table.attributeName,
                message: "its search index differs from the values of the objects"))
    }

    private func sumOfTerms(_ sql: SQL) throws(ReadFailure) -> TermSum {
        let terms = try session.statement(sql)
        defer { terms.reset() }
        var sum = TermSum()
        while try session.step(terms) {
            sum.add(Array(terms.string(at: 1).unicodeScalars)[...], of: terms.int64(at: 0))
        }
        return sum
    }

    private func sumOfTexts(_ table: SearchTable) throws(ReadFailure) -> TermSum {
        let text: SQL = "\(name: table.textColumn)"
        let texts = try session.statement(
            """
            SELECT \(name: Layout.keyColumn), \(function: IndexFunctions.searchForm)(\(text)) \
            FROM \(name: table.table) WHERE \(text) IS NOT NULL
            """)
        defer { texts.reset() }
        var sum = TermSum()
        while try session.step(texts) {
            sum.addTerms(of: texts.string(at: 1), of: texts.int64(at: 0))
        }
        return sum
    }

    /// Runs a statement that changes tables of this connection alone.
    private func onTemporaryTables(_ sql: SQL) throws(ReadFailure) {
        do throws(SQLiteError) {
            try session.connection.execute("PRAGMA query_only = OFF")
            defer { try? session.connection.execute("PRAGMA query_only = ON") }
            try session.connection.execute(sql)
        } catch {
            throw session.failure(error)
        }
    }
}

/// A sum over pairs of an object and a term, which does not depend on their order.
private struct TermSum: Equatable {
    private var count = 0
    private var sum: UInt64 = 0

    mutating func add(_ term: ArraySlice<Unicode.Scalar>, of key: Int64) {
        add(Self.number(of: term), of: key)
    }

    /// Adds each of a text's terms once.
    mutating func addTerms(of form: String, of key: Int64) {
        let scalars = Array(form.unicodeScalars)
        guard scalars.count >= SearchTable.termLength else { return }
        var terms = Set<UInt64>()
        for start in 0...scalars.count - SearchTable.termLength {
            terms.insert(Self.number(of: scalars[start..<start + SearchTable.termLength]))
        }
        for term in terms { add(term, of: key) }
    }

    private mutating func add(_ term: UInt64, of key: Int64) {
        count += 1
        // The finalizer of MurmurHash3.
        var hash = term &+ UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        sum &+= hash ^ hash >> 33
    }

    /// The 21 bits of each of the three characters.
    private static func number(of term: ArraySlice<Unicode.Scalar>) -> UInt64 {
        term.reduce(0) { $0 << 21 | UInt64($1.value) }
    }
}
