import LarderModel
import LarderQuery
import LarderSQL

extension StoreCheck {
    /// Compares an index of texts with the texts, in the snapshot of the check.
    ///
    /// Both sides are reduced to a count and a sum of hashes, because an index of many texts has
    /// more terms than memory holds. So the finding names the attribute and not the objects.
    mutating func checkSearchTable(_ table: SearchTable) throws(ReadFailure) {
        let name = "_terms"
        try onTemporaryTables(
            """
            CREATE VIRTUAL TABLE temp.\(name: name) \
            USING fts5vocab(main, \(name: table.name), instance)
            """)
        defer { try? onTemporaryTables("DROP TABLE temp.\(name: name)") }
        let sums =
            switch table.terms {
            case .trigrams: (try sumOfTrigrams(in: name), try sumOfTrigrams(of: table))
            case .words: (try sumOfWords(in: name, table), try sumOfWords(of: table))
            }
        guard sums.0 != sums.1 else { return }
        add("its search index differs from the values of the objects", at: table.attributeName)
    }

    private func sumOfTrigrams(in name: String) throws(ReadFailure) -> TermSum {
        let terms = try session.statement("SELECT doc, term FROM temp.\(name: name)")
        defer { terms.reset() }
        var sum = TermSum()
        while try session.step(terms) {
            sum.add(Array(terms.string(at: 1).unicodeScalars)[...], of: terms.int64(at: 0))
        }
        return sum
    }

    private func sumOfTrigrams(of table: SearchTable) throws(ReadFailure) -> TermSum {
        try sum(of: table, IndexFunctions.searchForm) { sum, form, _, key in
            sum.addTrigrams(of: form, of: key)
        }
    }

    private func sumOfWords(
        in name: String, _ table: SearchTable
    ) throws(ReadFailure) -> TermSum {
        let words = try session.statement(
            "SELECT doc, term, col, offset FROM temp.\(name: name)")
        defer { words.reset() }
        let columns = table.columns
        var sum = TermSum()
        while try session.step(words) {
            let column = columns.firstIndex(of: words.string(at: 2)) ?? columns.count
            sum.add(
                words.string(at: 1), at: Int(clamping: words.int64(at: 3)), column: column,
                of: words.int64(at: 0))
        }
        return sum
    }

    private func sumOfWords(of table: SearchTable) throws(ReadFailure) -> TermSum {
        try sum(of: table, IndexFunctions.wordForm) { sum, form, column, key in
            for (index, word) in form.split(separator: " ").enumerated() {
                sum.add(String(word), at: index, column: column, of: key)
            }
        }
    }

    /// The sum of the terms of all texts.
    ///
    /// - Parameter add: Gets the form of a text, the column of the index and the key of the object.
    private func sum(
        of table: SearchTable, _ form: String,
        _ add: (inout TermSum, String, Int, Int64) -> Void
    ) throws(ReadFailure) -> TermSum {
        let forms = table.textColumns.map { "\(function: form)(\(name: $0))" as SQL }
            .joined(separator: ", ")
        let texts = try session.statement(
            "SELECT \(name: Layout.keyColumn), \(forms) FROM \(name: table.table)")
        defer { texts.reset() }
        var sum = TermSum()
        while try session.step(texts) {
            for column in table.textColumns.indices where !texts.isNull(at: column + 1) {
                add(&sum, texts.string(at: column + 1), column, texts.int64(at: 0))
            }
        }
        return sum
    }

    /// Runs a statement that changes tables of this connection alone.
    private func onTemporaryTables(_ sql: SQL) throws(ReadFailure) {
        do throws(SQLError) {
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

    mutating func add(_ trigram: ArraySlice<Unicode.Scalar>, of key: Int64) {
        add(Self.number(of: trigram), of: key)
    }

    /// Adds each of a text's trigrams once.
    mutating func addTrigrams(of form: String, of key: Int64) {
        let scalars = Array(form.unicodeScalars)
        guard scalars.count >= SearchTable.termLength else { return }
        var terms = Set<UInt64>()
        for start in 0...scalars.count - SearchTable.termLength {
            terms.insert(Self.number(of: scalars[start..<start + SearchTable.termLength]))
        }
        for term in terms { add(term, of: key) }
    }

    /// Adds a word at its position among those of a text.
    mutating func add(_ word: String, at index: Int, column: Int, of key: Int64) {
        // FNV-1a.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in word.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        add(hash &+ UInt64(index) &* 0x1_0000 &+ UInt64(column), of: key)
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
