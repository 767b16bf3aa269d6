import FoundationEssentials
import LarderClient
import LarderModel

/// Searches with an index of words and with one of parts of texts, and what these indexes cost: the
/// rows per second, the bytes per row, and the processor time of queries.
struct IndexedSearch: Measure {
    let name = "search"

    /// The indexes, by the numbers that the peers have for them.
    private enum Index: Int, CaseIterable {
        case none, words, parts

        var name: String {
            switch self {
            case .none: "without an index"
            case .words: "with an index of words"
            case .parts: "with an index of parts"
            }
        }

        var schema: String {
            switch self {
            case .none: Articles.schema("", "")
            case .words: Articles.schema("", ", \"search\": [[\"title\", \"body\"]]")
            case .parts: Articles.schema(", \"search\": true", "")
            }
        }
    }

    /// The three sides with the same articles.
    private struct Sides {
        let server: NoteServer
        let sqlite: Peer?
        let postgres: Peer?
    }

    func measure(_ run: Run) throws {
        let count = run.size(1_000_000, quick: 2_000)
        for index in Index.allCases {
            let sides = try load(run, count, index)
            switch index {
            case .none: break
            case .words: try compareWords(run, count, sides)
            case .parts: try compareParts(run, count, sides)
            }
        }
    }

    private func load(_ run: Run, _ count: Int, _ index: Index) throws -> Sides {
        let server = try NoteServer(run, schema: index.schema)
        let sqlite = try run.peer("sqlite", [run.path("articles.db")])
        let postgres =
            run.hasPeers
            ? try run.peer("postgres", [run.variable("LARDER_BENCH_POSTGRES")]) : nil
        let time = try microseconds {
            _ = try server.client.insertAll(
                Insertion("Article"), properties: Articles.properties,
                rows: (1...count).lazy.map { Articles.row($0).map(Value.string) })
        }
        let rate = Double(count) / time * 1e6
        let bytes = Double(server.storeBytes) / Double(count)
        for (name, peer) in [("C on SQLite", sqlite), ("PostgreSQL", postgres)] {
            guard let peer else { continue }
            let theirRate = try peer.sample("articles \(count) \(index.rawValue)").value
            let theirBytes = Double(try peer.sample("bytes").checksum) / Double(count)
            run.add(
                Report.Row(
                    measure: "insert of \(count) texts \(index.name)", unit: "rows/s",
                    ours: [rate], peer: name, theirs: [theirRate]))
            run.add(
                Report.Row(
                    measure: "space of \(count) texts \(index.name)", unit: "bytes/row",
                    ours: [bytes], peer: name, theirs: [theirBytes]))
        }
        return Sides(server: server, sqlite: sqlite, postgres: postgres)
    }

    private func compareWords(_ run: Run, _ count: Int, _ sides: Sides) throws {
        for (form, text, command) in [
            ("one word", "tedeba", "word"), ("two words", "hadaba hababa", "words"),
            ("a phrase", "\"hadaba hababa\"", "phrase"), ("a beginning", "tede*", "prefix"),
        ] {
            try run.compare(
                "SEARCH for \(form) in \(count) texts, processor time", unit: "µs",
                ours: { try sides.server.count("Article", "SEARCH(title, body, '\(text)')") },
                [
                    Rival("FTS5 in C", .atMost(1.5), sides.sqlite, command),
                    Rival("PostgreSQL tsvector", nil, sides.postgres, command),
                ])
        }
        for (form, text, command) in [
            ("a word of 29 %", "hababa", "best-of-most"),
            ("a word of 2 %", "hadaba", "best-of-many"),
            ("a word of 0.1 %", "tedeba", "best-of-some"),
            ("two words", "hadaba hababa", "best-of-both"),
        ] {
            try run.compare(
                "first 20 by score for \(form) in \(count) texts, processor time", unit: "µs",
                ours: { try sides.server.best(20, text) },
                [
                    Rival("FTS5 in C", nil, sides.sqlite, command),
                    Rival("PostgreSQL tsvector", .atMost(1), sides.postgres, command),
                ])
        }
    }

    private func compareParts(_ run: Run, _ count: Int, _ sides: Sides) throws {
        try run.compare(
            "CONTAINS[cd] with an index in \(count) texts, processor time", unit: "µs",
            ours: { try sides.server.count("Article", "body CONTAINS[cd] 'TEDEBA'") },
            [
                Rival("FTS5 in C", .atMost(1.5), sides.sqlite, "part"),
                Rival("PostgreSQL pg_trgm", .atMost(1), sides.postgres, "part"),
            ])
    }
}

extension NoteServer {
    /// The first titles by score, as their number.
    fileprivate func best(_ limit: Int64, _ text: String) throws -> Sample {
        try sample { client in
            let parameters = QueryParameters(
                variables: ["text": .value(.string(text))], limit: limit)
            let fetch = Fetch(
                "Article", where: .format("SEARCH(title, body, $text)"),
                sort: [SortKey("score(title, body, $text)", descending: true)],
                selection: .values([QueryColumn("title")]))
            let batches = try client.stream(.fetch(fetch), parameters)
            var count: Int64 = 0
            while let batch = try batches.next() { count += Int64(batch.rowCount) }
            return count
        }
    }
}
