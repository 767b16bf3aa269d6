import FoundationEssentials
import LarderClient
import LarderModel

/// How much faster the server computes a result than a client that fetches all objects.
struct ServerSideCounting: Measure {
    let name = "counting"

    func measure(_ run: Run) throws {
        let server = try Server(run)
        let client = try server.connect()
        let articles = run.size(10_000, quick: 2_000)
        // The loader inserts one student per ten articles; these are the others.
        try Loader(client: client).articles(articles)
        try Loader(client: client).students(articles - articles / 10)
        let students = "grouped count over \(articles) students"
        try compareGroups(run, students, client)
        let indexed = try Server(run, schema: School.schema(isYearIndexed: true))
        let indexedClient = try indexed.connect()
        try Loader(client: indexedClient).students(articles)
        try compareGroups(run, students + ", indexed", indexedClient)
        try run.compare(
            "SUBQUERY count over \(articles) articles", unit: "µs",
            ours: { try prolific(client) },
            [Rival("fetch all, count in the client", .atMost(0.1)) { try prolificInClient(client) }]
        )
    }

    private func compareGroups(_ run: Run, _ name: String, _ client: StoreClient) throws {
        try run.compare(
            name, unit: "µs", ours: { try Grouping.grouped(client) },
            [Rival("fetch all, count in the client") { try groupedInClient(client) }])
    }

    private func groupedInClient(_ client: StoreClient) throws -> Sample {
        var checksum: Int64 = 0
        let time = try microseconds {
            var counts: [Int64: Int64] = [:]
            for record in try client.fetch("Student") {
                if case .int(let year)? = record["birthOfYear"] { counts[year, default: 0] += 1 }
            }
            for (year, count) in counts { checksum += year * count }
        }
        return Sample(value: time, checksum: checksum)
    }

    private let category = School.category(7)

    /// Counts the students with more than one long article in a category.
    private func prolific(_ client: StoreClient) throws -> Sample {
        try School.commitUnrelatedChange(client)
        var count: Int64 = 0
        let time = try microseconds {
            count = try client.count(
                "Student",
                where: """
                    SUBQUERY(articles, $a, $a.category.name == %@ \
                    AND $a.wordCount > 5000).@count > 1
                    """, arguments: [.value(.string(category))])
        }
        return Sample(value: time, checksum: count)
    }

    private func prolificInClient(_ client: StoreClient) throws -> Sample {
        var checksum: Int64 = 0
        let time = try microseconds {
            let categories = try client.fetch(
                "Category", where: "name == %@",
                arguments: [.value(.string(category))])
            let students = Set(try client.fetch("Student").map(\.identifier))
            var counts: [PersistentIdentifier: Int] = [:]
            for article in try client.fetch("Article") {
                if case .object(let author)? = article["author"], students.contains(author),
                    case .object(let its)? = article["category"],
                    its == categories.first?.identifier,
                    case .int(let words)? = article["wordCount"], words > 5_000
                {
                    counts[author, default: 0] += 1
                }
            }
            checksum = Int64(counts.values.count { $0 > 1 })
        }
        return Sample(value: time, checksum: checksum)
    }
}
