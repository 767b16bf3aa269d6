import FoundationEssentials
import LarderClient
import LarderModel

/// What each form of query costs, by the number of objects: prints the table of docs/queries.md.
///
/// There are a tenth as many students as articles, and 20 categories. Predicates are asked for a
/// count, so that the answer itself costs nothing.
struct QueryCosts: Measure {
    let name = "queries"

    func measure(_ run: Run) throws {
        let sizes = run.isQuick ? [1_000] : [1_000, 10_000, 100_000, 1_000_000]
        let servers = try sizes.map { _ in try Server(run) }
        // Without this use of them they would end as soon as they are connected to.
        defer { for server in servers { server.program.end() } }
        let clients = try servers.map { try $0.connect(timeout: .seconds(20)) }
        for (client, size) in zip(clients, sizes) { try Loader(client: client).articles(size) }
        var unknown: [String] = []
        say("\n| form | \(sizes.map(Self.grouped).joined(separator: " | ")) |")
        say("|---|\(sizes.map { _ in "---:|" }.joined())")
        for form in Form.all {
            var cells: [String] = []
            for (client, size) in zip(clients, sizes) {
                do throws(LarderError) {
                    cells.append(try cost(of: form, size, client, run))
                } catch {
                    guard Self.meansUnknown.contains(error.code) else { throw error }
                    cells.append("–")
                    unknown.append("\(form.name): \(error.message)")
                }
            }
            say("| \(form.name) | \(cells.joined(separator: " | ")) |")
        }
        for note in Set(unknown).sorted() { say("not known to this server: \(note)") }
    }

    private static let meansUnknown: Set<ErrorCode> = [
        .unsupported, .malformedPredicate, .resourceExhausted, .unknownProperty,
    ]

    /// The median of some askings, the first of which only warms up.
    private func cost(
        of form: Form, _ size: Int, _ client: StoreClient, _ run: Run
    ) throws(LarderError) -> String {
        var times: [Double] = []
        let end = ContinuousClock.now + .milliseconds(run.size(500, quick: 0))
        var askings = 0
        while askings < run.size(4, quick: 2) || ContinuousClock.now < end && askings < 200 {
            // An answer would be given again if nothing had changed.
            try School.change(client)
            let start = ContinuousClock.now
            do throws(LarderError) {
                try form.ask(client, size)
            } catch {
                guard error.code == .timeout else { throw error }
                return "> 20 s"
            }
            if askings > 0 { times.append((ContinuousClock.now - start) / .microseconds(1)) }
            askings += 1
            // What takes seconds is asked twice.
            if askings > 1 && times.median > 2e6 { break }
        }
        return Self.spelled(times.median)
    }

    private static func spelled(_ microseconds: Double) -> String {
        switch microseconds {
        case ..<1_000: "\(Report.short(microseconds)) µs"
        case ..<1_000_000: "\(Report.short(microseconds / 1_000)) ms"
        default: "\(Report.short(microseconds / 1_000_000)) s"
        }
    }

    /// 1000000 as 1,000,000.
    private static func grouped(_ number: Int) -> String {
        number < 1_000 ? "\(number)" : grouped(number / 1_000) + ",000"
    }
}

/// A form of query, for a store of so many articles.
private struct Form: Sendable {
    var name: String
    var ask: @Sendable (StoreClient, Int) throws(LarderError) -> Void

    init(_ name: String, _ ask: @escaping @Sendable (StoreClient, Int) throws(LarderError) -> Void)
    {
        self.name = name
        self.ask = ask
    }

    /// A predicate, asked for its count.
    static func counted(
        _ name: String, _ predicate: String, of entityName: String = "Article"
    ) -> Form {
        Form(name) { (client, _) throws(LarderError) in
            _ = try client.count(entityName, where: predicate)
        }
    }

    /// Objects in an order: ten of them, without their values.
    static func sorted(_ name: String, by keyPath: String, offset: Double) -> Form {
        Form(name) { (client, size) throws(LarderError) in
            let fetch = Fetch("Article", sort: [SortKey(keyPath)], selection: .identifiers)
            let offset = Int64(Double(size - 10) * offset)
            try drain(client, .fetch(fetch), limit: 10, offset: offset)
        }
    }

    /// The ten behind a value in the middle.
    static func paged(_ name: String) -> Form {
        Form(name) { (client, size) throws(LarderError) in
            let fetch = Fetch("Article", sort: [SortKey("wordCount")], selection: .identifiers)
            let middle = PersistentIdentifier(
                store: client.server.storeIdentifier, entityName: "Article", key: Int64(size / 2))
            let parameters = QueryParameters(limit: 10, after: [.int(5_000), .object(middle)])
            let stream = try client.stream(.fetch(fetch), parameters)
            while try stream.next() != nil {}
        }
    }

    static func list(of count: Int) -> Form {
        let numbers = (0..<count).map { Value.int(Int64($0 * 7_919 % 10_007)) }
        return Form("`IN` a list of \(count)") { (client, _) throws(LarderError) in
            _ = try client.count("Article", where: "wordCount IN %@", arguments: [.list(numbers)])
        }
    }

    static func drain(
        _ client: StoreClient, _ query: Query, limit: Int64? = nil, offset: Int64? = nil
    ) throws(LarderError) {
        let stream = try client.stream(query, QueryParameters(limit: limit, offset: offset))
        while try stream.next() != nil {}
    }

    static let all: [Form] = predicates + orders + computed

    private static let predicates = [
        counted("`==`, indexed", "title == \"Article 0000777\""),
        counted("`==`, not indexed", "summary == \"nowhere\""),
        counted("`BETWEEN` 1 % of all, indexed", "wordCount BETWEEN {100, 199}"),
        counted("`<` 1 % of all, not indexed", "rating < 100"),
        counted("`BEGINSWITH` 100, indexed", "title BEGINSWITH \"Article 00007\""),
        counted("`BEGINSWITH`, not indexed", "summary BEGINSWITH \"nowhere\""),
        counted("`CONTAINS`", "summary CONTAINS \"77\""),
        counted("`CONTAINS[cd]`", "summary CONTAINS[cd] \"UBER\""),
        counted("`==[cd]`, indexed", "title ==[cd] \"ARTICLE 0000777\""),
        counted("`LIKE`", "summary LIKE \"*5?7*\""),
        counted("`MATCHES`", "summary MATCHES \".*5.7.*\""),
        counted("a function: `length(summary) > 40`", "length(summary) > 40"),
        counted("arithmetic: `wordCount * 2 > rating`", "wordCount * 2 > rating"),
        list(of: 100), list(of: 10_000),
        counted("a to-one path: `category.name ==`", "category.name == \"Category 7\""),
        counted("`ANY`, indexed", "ANY articles.wordCount > 9900", of: "Student"),
        counted("`ANY`, not indexed", "ANY articles.rating > 9900", of: "Student"),
        counted("`ALL`", "ALL articles.rating > 100", of: "Student"),
        counted("`NONE`", "NONE articles.rating > 9900", of: "Student"),
        counted(
            "`SUBQUERY(…).@count > 2`", "SUBQUERY(articles, $a, $a.rating > 5000).@count > 2",
            of: "Student"),
        counted("`articles.@count > 9`", "articles.@count > 9", of: "Student"),
        counted("`articles.@sum.wordCount >`", "articles.@sum.wordCount > 50000", of: "Student"),
    ]

    private static let orders = [
        sorted("sort, indexed, the first 10", by: "wordCount", offset: 0),
        sorted("sort, indexed, the last 10 by offset", by: "wordCount", offset: 1),
        sorted("sort, not indexed, the first 10", by: "rating", offset: 0),
        sorted("sort, not indexed, the last 10 by offset", by: "rating", offset: 1),
        sorted("sort by a to-one path, the first 10", by: "category.name", offset: 0),
        paged("`after` half of all, indexed, the next 10"),
        Form("fetch 1,000 objects whole") { (client, _) throws(LarderError) in
            try drain(client, .fetch(Fetch("Article")), limit: 1_000)
        },
    ]

    private static let computed = [
        Form("count of all") { (client, _) throws(LarderError) in
            _ = try client.count("Article")
        },
        Form("group by an attribute of 10,000 values, indexed") {
            (client, _) throws(LarderError) in
            _ = try client.aggregate("Article", groupBy: ["wordCount"], [.count], limit: 10)
        },
        Form("group by `category.name`, count and sum") { (client, _) throws(LarderError) in
            _ = try client.aggregate(
                "Article", groupBy: ["category.name"],
                [.count, Aggregate.Column(.sum, "wordCount")])
        },
        Form("sum and average of all") { (client, _) throws(LarderError) in
            _ = try client.aggregate(
                "Article",
                [Aggregate.Column(.sum, "rating"), Aggregate.Column(.average, "rating")])
        },
        Form("median of all") { (client, _) throws(LarderError) in
            _ = try client.aggregate("Article", [Aggregate.Column(.median, "rating")])
        },
        Form("distinct `category.name`") { (client, _) throws(LarderError) in
            try drain(
                client,
                .fetch(
                    Fetch("Article", selection: .columns(["category.name"]), isDistinct: true)))
        },
    ]
}
