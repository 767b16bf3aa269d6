import LarderClient
import TestSupport
import Testing

@Suite("Sections of live queries")
struct LiveSectionTests {
    private let daemon: TestDaemon
    private let client: StoreClient
    private let writer: StoreClient

    init() throws {
        daemon = try TestDaemon()
        client = try daemon.connect()
        writer = try daemon.connect()
    }

    private func category(_ name: String) throws -> PersistentIdentifier {
        try writer.insert("Category", ["name": .string(name)])
    }

    @discardableResult
    private func article(
        _ title: String, _ category: PersistentIdentifier? = nil, words: Int64 = 0
    ) throws -> PersistentIdentifier {
        try writer.insert(
            "Article",
            [
                "title": .string(title), "wordCount": .int(words),
                "category": category.map { .object($0) } ?? .null,
            ])
    }

    private func next(_ results: LiveResults) throws -> LiveResult {
        try #require(try results.next(timeout: .seconds(600)))
    }

    /// Each section with the titles of its rows, for example `News: a b`.
    private func outline(_ result: LiveResult) -> [String] {
        result.sections.map { section in
            let titles = section.range.map { result.rows[$0]["title"]?.text ?? "" }
            return "\(section.value.text): \(titles.joined(separator: " "))"
        }
    }

    private static let byTitle = Fetch("Article", sort: ["title"])

    // MARK: - Sections

    @Test("the rows of a section are together, and sections are in order, nil first")
    func order() throws {
        let (sport, news) = (try category("Sport"), try category("News"))
        for (title, category) in [("d", sport), ("c", news), ("b", nil), ("a", sport)] {
            try article(title, category)
        }
        let results = client.observe(Self.byTitle, sectionedBy: "category.name")
        let result = try next(results)
        #expect(outline(result) == ["nil: b", "News: c", "Sport: a d"])
        #expect(result.insertedSections == [0, 1, 2])
        let descending = client.observe(
            Self.byTitle, sectionedBy: SortKey("category.name", descending: true))
        #expect(outline(try next(descending)) == ["Sport: a d", "News: c", "nil: b"])
        let nilLast = client.observe(
            Self.byTitle, sectionedBy: SortKey("category.name", nilPlacement: .last))
        #expect(outline(try next(nilLast)) == ["News: c", "Sport: a d", "nil: b"])
        let plain = client.observe(Self.byTitle)
        #expect(try next(plain).sections == [])
    }

    @Test("equal JSON values are one section, in the order of the values")
    func json() throws {
        let daemon = try TestDaemon(schema: ArticleSchema.text)
        let client = try daemon.connect()
        func details(_ text: String) -> [String: Value] { ["details": .json(text)] }
        var articles: [PersistentIdentifier] = []
        for (title, text) in [("a", #"{"n":10}"#), ("b", #"{"n":1}"#), ("c", #"{"n":1.0}"#)] {
            let values = details(text).merging(["title": .string(title)]) { one, _ in one }
            articles.append(try client.insert("Article", values))
        }
        let results = client.observe(Self.byTitle, sectionedBy: "details.n")
        let sections = outline(try next(results))
        #expect(sections == [#"json("1"): b c"#, #"json("10"): a"#])
        _ = try client.update(articles[1], details(#"{"n":10.0}"#))
        let changed = outline(try next(results))
        #expect(changed == [#"json("1"): c"#, #"json("10"): a b"#])
    }

    @Test("a commit inserts and deletes sections, and changes the counts of other sections")
    func changes() throws {
        let (sport, news) = (try category("Sport"), try category("News"))
        let results = client.observe(Self.byTitle, sectionedBy: "category.name")
        let empty = try next(results)
        #expect(empty.sections == [] && empty.insertedSections == [])
        let a = try article("a", sport)
        let first = try next(results)
        #expect(outline(first) == ["Sport: a"] && first.insertedSections == [0])
        let b = try article("b", sport)
        let second = try next(results)
        #expect(outline(second) == ["Sport: a b"] && second.insertedSections == [])
        // The row keeps its index, and has another section.
        _ = try writer.update(a, ["category": .object(news)])
        let third = try next(results)
        #expect(outline(third) == ["News: a", "Sport: b"])
        #expect(third.updated == [.init(from: 0, to: 0)] && third.insertedSections == [0])
        _ = try writer.update(b, ["category": .null])
        let fourth = try next(results)
        #expect(outline(fourth) == ["nil: b", "News: a"])
        #expect(fourth.insertedSections == [0] && fourth.deletedSections == [1])
        try writer.delete(a)
        try writer.delete(b)
        var last = try next(results)
        if !last.rows.isEmpty { last = try next(results) }
        #expect(last.sections == [] && last.deletedSections.contains(0))
    }

    @Test("renaming a category moves its articles to another section")
    func renaming() throws {
        let (news, sport) = (try category("News"), try category("Sport"))
        for (title, category) in [("a", news), ("b", sport), ("c", news)] {
            try article(title, category)
        }
        let results = client.observe(Self.byTitle, sectionedBy: "category.name")
        #expect(outline(try next(results)) == ["News: a c", "Sport: b"])
        _ = try writer.update(news, ["name": "Zoo"])
        let moved = try next(results)
        #expect(outline(moved) == ["Sport: b", "Zoo: a c"])
        #expect(moved.insertedSections == [1] && moved.deletedSections == [0])
        // The articles keep their indexes and values, but not their section.
        _ = try writer.update(news, ["name": "Zebra"])
        let renamed = try next(results)
        #expect(outline(renamed) == ["Sport: b", "Zebra: a c"])
        #expect(renamed.updated.map(\.to) == [1, 2] && renamed.moved == [])
        #expect(renamed.insertedSections == [1] && renamed.deletedSections == [1])
        try writer.delete(news)
        let gone = try next(results)
        #expect(outline(gone) == ["nil: a c", "Sport: b"])
    }

    @Test("the sections of a live query with a limit are those of its first rows")
    func limit() throws {
        let (news, sport) = (try category("News"), try category("Sport"))
        let first = try article("a", news)
        for title in ["b", "c", "d"] { try article(title, sport) }
        let results = client.observe(
            Self.byTitle, QueryParameters(limit: 2), sectionedBy: "category.name")
        #expect(outline(try next(results)) == ["News: a", "Sport: b"])
        try writer.delete(first)
        let result = try next(results)
        #expect(outline(result) == ["Sport: b c"])
        #expect(result.deletedSections == [0] && result.insertedSections == [])
    }

    @Test("a section of a live query can be any expression, also a count or an object")
    func expressions() throws {
        let news = try category("News")
        try article("a", news, words: 120)
        try article("b", words: 40)
        try article("c", news, words: 130)
        // The arguments of the section follow those of the predicate.
        let lengths = client.observe(
            Fetch("Article", where: .format("wordCount < %@"), sort: ["wordCount * %@"]),
            QueryParameters(arguments: [1_000, 100, -1]),
            sectionedBy: "TERNARY(wordCount >= %@, \"long\", \"short\")")
        #expect(outline(try next(lengths)) == ["long: c a", "short: b"])
        let counts = client.observe(Fetch("Category"), sectionedBy: "articles.@count")
        #expect(try next(counts).sections.map(\.value) == [2])
        let objects = try next(client.observe(Self.byTitle, sectionedBy: "category"))
        #expect(objects.sections.map(\.value) == [.null, .object(news)])
        #expect(objects.sections.map(\.count) == [1, 2])
        let tree = SortKey(.tree(.keyPath("category.name")))
        #expect(outline(try next(client.observe(Self.byTitle, sectionedBy: tree))).count == 2)
    }

    @Test("a section that is not a value of each object is refused with its reason")
    func errors() throws {
        func message(_ section: SortKey, of fetch: Fetch = Self.byTitle) -> String? {
            do {
                _ = try client.observe(fetch, sectionedBy: section).next(timeout: .seconds(600))
                return nil
            } catch {
                return "\(error)"
            }
        }
        let hint = "hint: the section is sort key 1, an expression with one value for each object"
        let cases: [(SortKey, String)] = [
            (
                "size",
                "UNKNOWN_PROPERTY]: sort key 1, column 1: Article has no property \"size\""
            ),
            (
                "title ==",
                "MALFORMED_PREDICATE]: sort key 1, column 9: expected a value, found the end"
            ),
            (
                SortKey("wordCount", stringOrder: .localizedStandard),
                "WRONG_TYPE]: only strings have a string order, and Article.wordCount is an int64"
            ),
        ]
        for (section, expected) in cases {
            #expect(message(section) == "error[\(expected)\n\(hint)")
        }
        // An error with a hint of its own keeps it.
        let sum = try #require(message("sum(wordCount)"))
        #expect(
            sum.hasPrefix(
                "error[WRONG_TYPE]: sort key 1, column 5: Article.wordCount is an int64, "
                    + "not a to-many relationship\nhint: here an aggregate takes"))
        #expect(
            message("articles.title", of: Fetch("Category"))
                == "error[WRONG_TYPE]: the key path to Article.title leads to many objects "
                + "and has no order\nhint: write `join(articles.title, \", \")`")
        // An error in another part of the fetch is not that of the section.
        let other = Fetch("Article", where: .format("size > 1"))
        #expect(message("title", of: other)?.contains("hint") == false)
        let values = Fetch("Article", selection: .values(["title"]))
        #expect(message("title", of: values)?.hasPrefix("error[UNSUPPORTED]") == true)
    }

    @Test("observed rows have the sections of their last result")
    @MainActor
    func observable() async throws {
        let news = try category("News")
        let rows = ObservedRows(client.observe(Self.byTitle, sectionedBy: "category.name"))
        try article("a", news)
        while rows.sections.map(\.count) != [1] { await Task.yield() }
        #expect(rows.sections.first?.value == "News" && rows.rows.count == 1)
    }

    @Test("observers share a live query only if their sections are equal")
    func sharing() throws {
        let observers = ["category.name", "title", "title"].map {
            client.observe(Self.byTitle, sectionedBy: SortKey($0))
        }
        for results in observers { _ = try next(results) }
        let count = try writer.statistics().first { $0.name == "liveQueries" }?.value
        #expect(count == 2)
    }

    // MARK: - Random commits

    /// A fetch with sections, and its limit.
    private struct Sample {
        var section: SortKey
        var fetch: Fetch
        var limit: Int64?

        init(_ section: SortKey, _ fetch: Fetch, limit: Int64? = nil) {
            (self.section, self.fetch, self.limit) = (section, fetch, limit)
        }
    }

    private static let samples = [
        Sample("category.name", Fetch("Article", sort: ["title"])),
        Sample(
            SortKey("category.name", descending: true),
            Fetch("Article", sort: [SortKey("wordCount", descending: true)])),
        Sample("category.name", Fetch("Article", sort: ["title"]), limit: 3),
        Sample(SortKey("category.name", nilPlacement: .last), Fetch("Article"), limit: 5),
        Sample(
            "wordCount", Fetch("Article", where: .format("category != nil"), sort: ["title"])),
        Sample("category", Fetch("Article", sort: ["title"], selection: .columns(["title"]))),
        Sample("articles.@count", Fetch("Category", sort: ["name"], selection: .identifiers)),
        Sample(
            SortKey("category.articles.@max.wordCount", descending: true), Fetch("Article"),
            limit: 4),
        Sample(
            "title", Fetch("Article", where: .format("category.name BEGINSWITH \"a\""))),
    ]

    /// The identifiers of the rows of each section, grouped by hand from a fetch without sections.
    private func grouped(
        _ sample: Sample
    ) throws -> [(value: Value, rows: [PersistentIdentifier])] {
        var fetch = sample.fetch
        fetch.selection = .columns([QueryColumn(sample.section.term, name: "@section")])
        var groups: [Value: [PersistentIdentifier]] = [:]
        for row in try writer.fetch(fetch, QueryParameters()).objects {
            groups[row["@section"] ?? .null, default: []].append(row.identifier)
        }
        let nilComesFirst = sample.section.nilComesFirst
        let isDescending = sample.section.isDescending
        let sorted = groups.sorted { left, right in
            if left.key.isNull || right.key.isNull { return left.key.isNull == nilComesFirst }
            return isDescending ? right.key.precedes(left.key) : left.key.precedes(right.key)
        }
        var rest = sample.limit.map { Int($0) } ?? .max
        return sorted.compactMap { value, rows in
            let first = Array(rows.prefix(rest))
            rest -= first.count
            return first.isEmpty ? nil : (value, first)
        }
    }

    /// Checks a result against its sample, and the change of its sections against the ones before.
    private func fits(_ result: LiveResult, _ sample: Sample) throws -> Bool {
        let expected = try grouped(sample)
        let found = result.sections.map { section in
            (value: section.value, rows: result.rows[section.range].map(\.identifier))
        }
        var fetch = sample.fetch
        fetch.sort.insert(sample.section, at: 0)
        let rows = try writer.fetch(fetch, QueryParameters(limit: sample.limit)).objects
        return found.elementsEqual(expected, by: ==) && result.rows == rows
    }

    @Test("the sections of a live query equal those of a fresh fetch after any commits")
    func property() throws {
        var choice = SeededGenerator.fromEnvironment("sections of live queries")
        let observers = Self.samples.map {
            client.observe($0.fetch, QueryParameters(limit: $0.limit), sectionedBy: $0.section)
        }
        var results = try observers.map { try next($0) }
        var log: [String] = []
        for round in 0..<60 {
            for _ in 0..<Int.random(in: 1...4, using: &choice) { log.append(try commit(&choice)) }
            for (index, sample) in Self.samples.enumerated() {
                // The last result may be of an earlier commit that is the last to concern it.
                while try !fits(results[index], sample),
                    let result = try observers[index].next(timeout: .seconds(600))
                {
                    let deleted = Set(result.deletedSections)
                    var values = results[index].sections.map(\.value).enumerated()
                        .filter { !deleted.contains($0.offset) }.map(\.element)
                    for inserted in result.insertedSections {
                        values.insert(result.sections[inserted].value, at: inserted)
                    }
                    #expect(values == result.sections.map(\.value), "seed \(choice.seed)")
                    results[index] = result
                }
                guard try fits(results[index], sample) else {
                    Issue.record(
                        """
                        round \(round), sample \(index), seed \(choice.seed):
                        \(results[index].sections) of
                        \(results[index].rows)
                        instead of
                        \(try grouped(sample))
                        after
                        \(log.suffix(8).joined(separator: "\n"))
                        """)
                    return
                }
            }
        }
    }

    /// Commits a random change, and returns it as text.
    private func commit(_ choice: inout SeededGenerator) throws -> String {
        func object(_ entity: String) throws -> PersistentIdentifier? {
            try writer.fetch(entity).map(\.identifier).randomElement(using: &choice)
        }
        let name = ["a1", "a2", "b1", "b2", "c"].randomElement(using: &choice) ?? "a"
        let unique = "\(name)-\(UInt16.random(in: 0...999, using: &choice))"
        let number = Int64.random(in: 0...3, using: &choice)
        let (article, category) = (try object("Article"), try object("Category"))
        switch (Int.random(in: 0...9, using: &choice), article, category) {
        case (0...2, let article?, _):
            _ = try writer.update(
                article, ["category": category.map { .object($0) } ?? .null])
            return "\(article) moves to \(String(describing: category))"
        case (3, let article?, _):
            _ = try writer.update(article, ["category": .null])
            return "\(article) moves to nil"
        case (4, let article?, _):
            _ = try writer.update(
                article, ["title": .string(name), "wordCount": .int(number)])
            return "\(article) is \(name) \(number)"
        case (5, let article?, _):
            try writer.delete(article)
            return "\(article) is deleted"
        case (6, _, let category?) where number == 0:
            try writer.delete(category)
            return "\(category) is deleted"
        case (6...7, _, let category?):
            _ = try? writer.update(category, ["name": .string(unique)])
            return "\(category) is \(unique)"
        case (8, _, _):
            _ = try? self.category(unique)
            return "\(unique) is inserted"
        default:
            try self.article(name, category, words: number)
            return "\(name) is inserted in \(String(describing: category))"
        }
    }
}

extension Value {
    /// The order of the sections of this test.
    fileprivate func precedes(_ other: Value) -> Bool {
        switch (self, other) {
        case (.int(let left), .int(let right)): left < right
        case (.string(let left), .string(let right)): left < right
        case (.object(let left), .object(let right)):
            (left.permanentKey ?? 0) < (right.permanentKey ?? 0)
        default: false
        }
    }

    fileprivate var text: String {
        switch self {
        case .null: "nil"
        case .string(let string): string
        default: "\(self)"
        }
    }
}
