import FoundationEssentials
import LarderClient
import Testing

@Suite("Swift predicates select the same objects in a store and in memory")
struct PredicateTests {
    @Test("Swift predicates over values select the same objects in a store and in memory")
    func values() throws {
        let articles = try ArticleStore()
        try articles.check(#Predicate { $0.words == 100 })
        try articles.check(#Predicate { $0.words != 100 })
        try articles.check(#Predicate { $0.words > 100 && $0.words <= 900 })
        try articles.check(#Predicate { $0.rating < 2.5 || $0.rating >= 4 })
        try articles.check(#Predicate { !($0.words > 100 || $0.isPublished) })
        try articles.check(#Predicate { $0.isPublished })
        try articles.check(#Predicate { !$0.isPublished })
        try articles.check(#Predicate { $0.isFeatured == true })
        try articles.check(#Predicate { $0.isFeatured != true })
        try articles.check(#Predicate { $0.isFeatured ?? false })
        try articles.check(#Predicate { $0.isFeatured ?? true })
        try articles.check(#Predicate { $0.subtitle == nil })
        try articles.check(#Predicate { $0.subtitle != nil })
        try articles.check(#Predicate { $0.subtitle != "b" })
        try articles.check(#Predicate { !($0.subtitle == "b") })
        let nothing: String? = nil
        try articles.check(#Predicate { $0.subtitle == nothing })
        try articles.check(#Predicate { $0.subtitle != nothing })
        try articles.check(#Predicate { nothing == nil || $0.subtitle == nothing })
        try articles.check(#Predicate { (100...900).contains($0.words) })
        try articles.check(#Predicate { (100..<900).contains($0.words) })
        let open = 100...
        try articles.check(#Predicate { open.contains($0.words) })
        let words = [0, 900, 900]
        try articles.check(#Predicate { words.contains($0.words) })
        try articles.check(#Predicate { !words.contains($0.words) })
        let subtitles: [String?] = ["b", nil]
        try articles.check(#Predicate { subtitles.contains($0.subtitle) })
        try articles.check(#Predicate { !subtitles.contains($0.subtitle) })
        let none: [Int] = []
        try articles.check(#Predicate { none.contains($0.words) })
        let day = Date(timeIntervalSinceReferenceDate: 86_400)
        try articles.check(#Predicate { $0.date < day })
        let tenth: Date? = day
        try articles.check(#Predicate { $0.date == tenth ?? day })
    }

    @Test("Swift predicates that search for words select the same objects in a store and in memory")
    func searches() throws {
        let articles = try ArticleStore()
        let both = try TextSearch("uber OR b OR strasse", in: \Article.title, \Article.subtitle)
        try articles.check(#Predicate { both.contains($0) })
        try articles.check(#Predicate { !both.contains($0) })
        try articles.check(#Predicate { both.contains($0) && $0.words > 100 })
        let beginning = try TextSearch("a* -family", in: \Article.subtitle)
        try articles.check(#Predicate { beginning.contains($0) })
        let review = try TextSearch("b", in: \Review.text)
        try articles.check(#Predicate { $0.reviews.contains { review.contains($0) } })
        let name = try TextSearch("ather", in: \Category.name)
        try articles.check(#Predicate { $0.category.flatMap { name.contains($0) } == true })
        let best = try articles.client.fetch(
            where: #Predicate<Article> { both.contains($0) }, sort: [both.bestFirst], limit: 3)
        let expected = articles.all.filter { both.contains($0) }
            .sorted { (both.score(of: $1), $0.number) < (both.score(of: $0), $1.number) }
        #expect(expected.count == 5)
        #expect(
            best.map { $0["number"] }
                == expected.prefix(3).map { .int(Int64($0.number)) })
    }

    @Test("Swift predicates over strings select the same objects in a store and in memory")
    func strings() throws {
        let articles = try ArticleStore()
        try articles.check(#Predicate { $0.title == "e\u{301}cole" })
        try articles.check(#Predicate { $0.title != "école" })
        try articles.check(#Predicate { $0.title < "e" })
        try articles.check(#Predicate { $0.title >= "straße" })
        try articles.check(#Predicate { $0.title.contains("e") })
        try articles.check(#Predicate { $0.title.contains("") })
        try articles.check(#Predicate { $0.title.contains("👩") })
        try articles.check(#Predicate { $0.title.starts(with: "e") })
        try articles.check(#Predicate { $0.title.starts(with: "É") })
        try articles.check(#Predicate { $0.title.localizedStandardContains("ECO") })
        try articles.check(#Predicate { $0.title.localizedStandardContains("ub") })
        let same = ComparisonResult.orderedSame
        try articles.check(#Predicate { $0.title.caseInsensitiveCompare("ÉCOLE") == same })
        try articles.check(#Predicate { $0.title.caseInsensitiveCompare("über") != same })
        try articles.check(#Predicate { $0.title.localizedCompare("über") == same })
        let (less, more) = (ComparisonResult.orderedAscending, ComparisonResult.orderedDescending)
        try articles.check(#Predicate { $0.title.caseInsensitiveCompare("T") == less })
        try articles.check(#Predicate { $0.title.caseInsensitiveCompare("T") == more })
        try articles.check(#Predicate { $0.title.isEmpty })
        try articles.check(#Predicate { $0.subtitle?.isEmpty == true })
        try articles.check(#Predicate { $0.subtitle?.isEmpty ?? true })
        try articles.check(#Predicate { $0.subtitle?.contains("b") == true })
        try articles.check(#Predicate { $0.subtitle?.contains("b") == false })
        try articles.check(#Predicate { $0.subtitle?.contains("b") != true })
        try articles.check(#Predicate { $0.subtitle.flatMap { $0 > "b" } == nil })
        try articles.check(
            #Predicate { if let subtitle = $0.subtitle { subtitle != "b" } else { false } })
        try articles.check(
            #Predicate { if let subtitle = $0.subtitle { subtitle != "b" } else { $0.words > 1 } })
    }

    @Test("Swift predicates over relationships select the same objects in a store and in memory")
    func relationships() throws {
        let articles = try ArticleStore()
        let news = articles.categories[0].persistentModelID
        let others = Set(articles.categories.dropFirst().map(\.persistentModelID))
        let first = articles.all[0].persistentModelID
        try articles.check(#Predicate { $0.persistentModelID == first })
        try articles.check(#Predicate { $0.persistentModelID != first })
        try articles.check(#Predicate { $0.category == nil })
        try articles.check(#Predicate { $0.category != nil })
        try articles.check(#Predicate { $0.category?.persistentModelID == news })
        try articles.check(#Predicate { $0.category?.persistentModelID != news })
        try articles.check(
            #Predicate {
                if let category = $0.category {
                    others.contains(category.persistentModelID)
                } else {
                    true
                }
            })
        try articles.check(#Predicate { $0.category?.name == "News" })
        try articles.check(#Predicate { $0.category?.name != "News" })
        try articles.check(#Predicate { $0.category?.name.starts(with: "N") ?? false })
        try articles.check(#Predicate { $0.reviews.isEmpty })
        try articles.check(#Predicate { !$0.reviews.isEmpty })
        try articles.check(#Predicate { $0.reviews.count > 1 })
        try articles.check(#Predicate { $0.reviews.contains { $0.stars > 3 } })
        try articles.check(#Predicate { !$0.reviews.contains { $0.stars > 3 } })
        try articles.check(#Predicate { $0.reviews.allSatisfy { $0.stars > 3 } })
        try articles.check(#Predicate { $0.reviews.filter { $0.stars < 4 }.count == 1 })
        try articles.check(
            #Predicate { $0.reviews.filter { $0.stars > 1 }.contains { $0.text == nil } })
        try articles.check(
            #Predicate { article in article.reviews.contains { $0.text == article.subtitle } })
        try articles.check(
            #Predicate { $0.category?.articles.contains { $0.isPublished } ?? false })
        try articles.check(
            #Predicate { $0.category?.articles.allSatisfy { $0.words > 100 } ?? true })
        try articles.check(
            #Predicate { article in
                article.category?.articles.contains { $0.words > article.words } == true
            })
        try articles.check(
            #Predicate { article in
                article.category?.articles.filter { other in
                    other.reviews.contains { $0.stars > 3 } && other.words != article.words
                }.isEmpty == false
            })
    }

    @Test("fetch, count and aggregate accept a Swift predicate, blocking or not")
    func calls() async throws {
        let articles = try ArticleStore()
        let client = articles.client
        let predicate = #Predicate<Article> { $0.words >= 100 }
        let expected = try articles.all.filter(predicate)
        #expect(try await client.count(where: predicate) == Int64(expected.count))
        try blocking(client, predicate, expected)
        let longest = try await client.fetch(
            where: predicate, sort: [SortKey("words", descending: true)], limit: 1)
        #expect(longest.map { $0["words"] } == [.int(900)])
        let rows = try await client.aggregate(
            where: predicate, [Aggregate.Column(.sum, "words", name: "sum")])
        #expect(rows.map { $0["sum"] } == [.int(Int64(expected.map(\.words).reduce(0, +)))])
        #expect(try await client.count(where: #Predicate<Article> { !$0.reviews.isEmpty }) > 0)
        let less = ComparisonResult.orderedAscending
        let refused = #Predicate<Article> { $0.title.localizedCompare("x") == less }
        #expect(failure { _ = try client.count(where: refused) }?.code == .unsupportedPredicate)
    }

    @Test("updateAll and deleteAll accept a Swift predicate, blocking or not")
    func changes() async throws {
        let articles = try ArticleStore()
        let client = articles.client
        let long = #Predicate<Article> { $0.words >= 100 }
        let chosen = try articles.all.filter(long)
        let category = Value.object(articles.categories[2].persistentModelID)
        let updated = try await client.updateAll(
            where: long, ["category": category, "subtitle": nil],
            expressions: ["words": "words * 2", "pages": "ternary(words > 800, pages, 1)"],
            wantsIdentifiers: true)
        #expect(updated.identifiers == chosen.map(\.persistentModelID))
        let records = try await client.fetch(
            "Article", where: "category == %@", arguments: [.value(category)])
        #expect(records.map { $0["words"] } == chosen.map { .int(Int64($0.words) * 2) })
        #expect(records.map(\.version) == chosen.map { _ in 2 })
        try blockingChanges(client)
        let result = try await client.save(ChangeSet([.deleteAll(ObjectSelection("Review"))]))
        #expect(result.affected.map(\.count) == [result.deletedCount])
        #expect(try await client.deleteAll("Category", where: nil).count == 3)
    }

    private func blockingChanges(_ client: StoreClient) throws {
        #expect(try client.updateAll("Article", ["isFeatured": true], where: nil).count == 8)
        #expect(try client.updateAll(where: #Predicate<Article> { $0.words < 0 }).count == 1)
        let deleted = try client.deleteAll(where: #Predicate<Article> { $0.words > 0 })
        #expect(deleted == AffectedObjects(count: 6))
        #expect(try client.deleteAll("Article", where: "words <= %@", arguments: [0]).count == 2)
        #expect(try client.count("Article") == 0)
    }

    private func blocking(
        _ client: StoreClient, _ predicate: Predicate<Article>, _ expected: [Article]
    ) throws {
        #expect(try client.count(where: predicate) == Int64(expected.count))
        #expect(try client.fetch(where: predicate).count == expected.count)
        let rows = try client.aggregate(where: predicate, [.count])
        #expect(rows.map { $0["count"] } == [.int(Int64(expected.count))])
    }

    @Test("Swift predicates with computed values select the same objects in a store and in memory")
    func functions() throws {
        let articles = try ArticleStore()
        try articles.check(#Predicate { $0.words + 1 > 101 })
        try articles.check(#Predicate { ($0.words - 100) * 2 == 2 })
        try articles.check(#Predicate { $0.words / 7 == 0 })
        try articles.check(#Predicate { $0.words % 2 == 1 })
        try articles.check(#Predicate { $0.words % 2 == -1 })
        try articles.check(#Predicate { -$0.words > 0 })
        try articles.check(#Predicate { $0.rating / 2.0 > 1.5 })
        try articles.check(#Predicate { $0.title.count > 5 })
        try articles.check(#Predicate { $0.title.count == 8 })
        try articles.check(#Predicate { ($0.pages ?? 1) > 0 })
        try articles.check(#Predicate { ($0.subtitle ?? "none") != "b" })
        try articles.check(#Predicate { ($0.isPublished ? $0.words : 100) == 100 })
        try articles.check(
            #Predicate { if $0.isPublished { $0.words > 5 } else { $0.rating > 2 } })
        try articles.check(#Predicate { $0.category?.articles.count == 4 })
        try articles.check(#Predicate { $0.category?.articles.count != 4 })
        try articles.check(#Predicate { ($0.category?.articles.count ?? 2) == 2 })
        try articles.check(#Predicate { ($0.words > 100) == $0.isPublished })
    }
}
