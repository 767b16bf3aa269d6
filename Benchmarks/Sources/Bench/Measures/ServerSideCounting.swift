import FoundationEssentials
import LarderClient
import LarderModel

/// What it gains that the server computes: the same answer from all objects fetched, and counted in
/// the client.
struct ServerSideCounting: Measure {
    let name = "counting"

    func measure(_ run: Run) throws {
        let server = try Server(run)
        let client = try server.connect()
        let articles = run.size(10_000, quick: 2_000)
        // A tenth as many students as articles come with the articles.
        try Loader(client: client).articles(articles)
        try Loader(client: client).students(articles - articles / 10)
        let students = "grouped count over \(articles) students"
        try compareGroups(run, students, client)
        let indexed = try Server(run, isYearIndexed: true)
        let itsClient = try indexed.connect()
        try Loader(client: itsClient).students(articles)
        try compareGroups(run, students + ", indexed", itsClient)
        try run.compare(
            "SUBQUERY count over \(articles) articles", unit: "µs",
            ours: { try prolific(client) },
            [Rival("fetch all, count in the client", .atMost(0.1)) { try prolificHere(client) }])
    }

    /// Asked again, and computed anew.
    private func compareGroups(_ run: Run, _ name: String, _ client: StoreClient) throws {
        let (peer, theirs) = (
            "fetch all, count in the client", { [self] in try groupedHere(client) }
        )
        try run.compare(
            name, unit: "µs", ours: { try Grouping.grouped(client) },
            [Rival(peer, .atMost(0.1), theirs)])
        try run.compare(
            name + ", after a change", unit: "µs", ours: { try Grouping.groupedAnew(client) },
            [Rival(peer, nil, theirs)])
    }

    private func groupedHere(_ client: StoreClient) throws -> Sample {
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

    /// The students with more than one long article of a category.
    private func prolific(_ client: StoreClient) throws -> Sample {
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

    private func prolificHere(_ client: StoreClient) throws -> Sample {
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
