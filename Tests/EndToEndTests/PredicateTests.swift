import FoundationEssentials
import LarderClient
import Testing

@Suite("A store selects what Swift selects in memory")
struct PredicateTests {
    @Test("comparisons, nil, and, or, not, ranges and lists")
    func values() throws {
        let stories = try StoryStore()
        try stories.agree(#Predicate { $0.words == 100 })
        try stories.agree(#Predicate { $0.words != 100 })
        try stories.agree(#Predicate { $0.words > 100 && $0.words <= 900 })
        try stories.agree(#Predicate { $0.rating < 2.5 || $0.rating >= 4 })
        try stories.agree(#Predicate { !($0.words > 100 || $0.isPublished) })
        try stories.agree(#Predicate { $0.isPublished })
        try stories.agree(#Predicate { !$0.isPublished })
        try stories.agree(#Predicate { $0.isFeatured == true })
        try stories.agree(#Predicate { $0.isFeatured != true })
        try stories.agree(#Predicate { $0.isFeatured ?? false })
        try stories.agree(#Predicate { $0.isFeatured ?? true })
        try stories.agree(#Predicate { $0.subtitle == nil })
        try stories.agree(#Predicate { $0.subtitle != nil })
        try stories.agree(#Predicate { $0.subtitle != "b" })
        try stories.agree(#Predicate { !($0.subtitle == "b") })
        let nothing: String? = nil
        try stories.agree(#Predicate { $0.subtitle == nothing })
        try stories.agree(#Predicate { $0.subtitle != nothing })
        try stories.agree(#Predicate { nothing == nil || $0.subtitle == nothing })
        try stories.agree(#Predicate { (100...900).contains($0.words) })
        try stories.agree(#Predicate { (100..<900).contains($0.words) })
        let open = 100...
        try stories.agree(#Predicate { open.contains($0.words) })
        let words = [0, 900, 900]
        try stories.agree(#Predicate { words.contains($0.words) })
        try stories.agree(#Predicate { !words.contains($0.words) })
        let subtitles: [String?] = ["b", nil]
        try stories.agree(#Predicate { subtitles.contains($0.subtitle) })
        try stories.agree(#Predicate { !subtitles.contains($0.subtitle) })
        let none: [Int] = []
        try stories.agree(#Predicate { none.contains($0.words) })
        let day = Date(timeIntervalSinceReferenceDate: 86_400)
        try stories.agree(#Predicate { $0.date < day })
        let tenth: Date? = day
        try stories.agree(#Predicate { $0.date == tenth ?? day })
    }

    @Test("strings, by characters and without case and diacritics")
    func strings() throws {
        let stories = try StoryStore()
        try stories.agree(#Predicate { $0.title == "e\u{301}cole" })
        try stories.agree(#Predicate { $0.title != "école" })
        try stories.agree(#Predicate { $0.title < "e" })
        try stories.agree(#Predicate { $0.title >= "straße" })
        try stories.agree(#Predicate { $0.title.contains("e") })
        try stories.agree(#Predicate { $0.title.contains("") })
        try stories.agree(#Predicate { $0.title.contains("👩") })
        try stories.agree(#Predicate { $0.title.starts(with: "e") })
        try stories.agree(#Predicate { $0.title.starts(with: "É") })
        try stories.agree(#Predicate { $0.title.localizedStandardContains("ECO") })
        try stories.agree(#Predicate { $0.title.localizedStandardContains("ub") })
        let same = ComparisonResult.orderedSame
        try stories.agree(#Predicate { $0.title.caseInsensitiveCompare("ÉCOLE") == same })
        try stories.agree(#Predicate { $0.title.caseInsensitiveCompare("über") != same })
        try stories.agree(#Predicate { $0.title.localizedCompare("über") == same })
        let (less, more) = (ComparisonResult.orderedAscending, ComparisonResult.orderedDescending)
        try stories.agree(#Predicate { $0.title.caseInsensitiveCompare("T") == less })
        try stories.agree(#Predicate { $0.title.caseInsensitiveCompare("T") == more })
        try stories.agree(#Predicate { $0.title.isEmpty })
        try stories.agree(#Predicate { $0.subtitle?.isEmpty == true })
        try stories.agree(#Predicate { $0.subtitle?.isEmpty ?? true })
        try stories.agree(#Predicate { $0.subtitle?.contains("b") == true })
        try stories.agree(#Predicate { $0.subtitle?.contains("b") == false })
        try stories.agree(#Predicate { $0.subtitle?.contains("b") != true })
        try stories.agree(#Predicate { $0.subtitle.flatMap { $0 > "b" } == nil })
        try stories.agree(
            #Predicate { if let subtitle = $0.subtitle { subtitle != "b" } else { false } })
        try stories.agree(
            #Predicate { if let subtitle = $0.subtitle { subtitle != "b" } else { $0.words > 1 } })
    }

    @Test("relationships: to one object, to none, and to many")
    func relationships() throws {
        let stories = try StoryStore()
        let news = stories.sections[0].persistentModelID
        let others = Set(stories.sections.dropFirst().map(\.persistentModelID))
        let first = stories.all[0].persistentModelID
        try stories.agree(#Predicate { $0.persistentModelID == first })
        try stories.agree(#Predicate { $0.persistentModelID != first })
        try stories.agree(#Predicate { $0.section == nil })
        try stories.agree(#Predicate { $0.section != nil })
        try stories.agree(#Predicate { $0.section?.persistentModelID == news })
        try stories.agree(#Predicate { $0.section?.persistentModelID != news })
        try stories.agree(
            #Predicate {
                if let section = $0.section {
                    others.contains(section.persistentModelID)
                } else {
                    true
                }
            })
        try stories.agree(#Predicate { $0.section?.name == "News" })
        try stories.agree(#Predicate { $0.section?.name != "News" })
        try stories.agree(#Predicate { $0.section?.name.starts(with: "N") ?? false })
        try stories.agree(#Predicate { $0.remarks.isEmpty })
        try stories.agree(#Predicate { !$0.remarks.isEmpty })
        try stories.agree(#Predicate { $0.remarks.count > 1 })
        try stories.agree(#Predicate { $0.remarks.contains { $0.stars > 3 } })
        try stories.agree(#Predicate { !$0.remarks.contains { $0.stars > 3 } })
        try stories.agree(#Predicate { $0.remarks.allSatisfy { $0.stars > 3 } })
        try stories.agree(#Predicate { $0.remarks.filter { $0.stars < 4 }.count == 1 })
        try stories.agree(
            #Predicate { $0.remarks.filter { $0.stars > 1 }.contains { $0.text == nil } })
        try stories.agree(
            #Predicate { story in story.remarks.contains { $0.text == story.subtitle } })
        try stories.agree(
            #Predicate { $0.section?.stories.contains { $0.isPublished } ?? false })
        try stories.agree(
            #Predicate { $0.section?.stories.allSatisfy { $0.words > 100 } ?? true })
        try stories.agree(
            #Predicate { story in
                story.section?.stories.contains { $0.words > story.words } == true
            })
        try stories.agree(
            #Predicate { story in
                story.section?.stories.filter { other in
                    other.remarks.contains { $0.stars > 3 } && other.words != story.words
                }.isEmpty == false
            })
    }

    @Test("fetch, count and aggregate take a predicate, blocking or not")
    func calls() async throws {
        let stories = try StoryStore()
        let client = stories.client
        let predicate = #Predicate<Story> { $0.words >= 100 }
        let expected = try stories.all.filter(predicate)
        #expect(try await client.count(where: predicate) == Int64(expected.count))
        try blocking(client, predicate, expected)
        let longest = try await client.fetch(
            where: predicate, sort: [SortKey("words", descending: true)], limit: 1)
        #expect(longest.map { $0["words"] } == [.int(900)])
        let rows = try await client.aggregate(
            where: predicate, [Aggregate.Column(.sum, "words", name: "sum")])
        #expect(rows.map { $0["sum"] } == [.int(Int64(expected.map(\.words).reduce(0, +)))])
        #expect(try await client.count(where: #Predicate<Story> { !$0.remarks.isEmpty }) > 0)
        let less = ComparisonResult.orderedAscending
        let refused = #Predicate<Story> { $0.title.localizedCompare("x") == less }
        #expect(failure { _ = try client.count(where: refused) }?.code == .unsupportedPredicate)
    }

    @Test("all objects that satisfy a predicate are updated and deleted, blocking or not")
    func changes() async throws {
        let stories = try StoryStore()
        let client = stories.client
        let long = #Predicate<Story> { $0.words >= 100 }
        let chosen = try stories.all.filter(long)
        let section = Value.object(stories.sections[2].persistentModelID)
        let updated = try await client.updateAll(
            where: long, ["section": section, "subtitle": nil],
            expressions: ["words": "words * 2", "pages": "ternary(words > 800, pages, 1)"],
            wantsIdentifiers: true)
        #expect(updated.identifiers == chosen.map(\.persistentModelID))
        let records = try await client.fetch(
            "Story", where: "section == %@", arguments: [.value(section)])
        #expect(records.map { $0["words"] } == chosen.map { .int(Int64($0.words) * 2) })
        #expect(records.map(\.version) == chosen.map { _ in 2 })
        try blockingChanges(client)
        let result = try await client.save(ChangeSet([.deleteAll(ObjectSelection("Remark"))]))
        #expect(result.affected.map(\.count) == [result.deletedCount])
        #expect(try await client.deleteAll("Section", where: nil).count == 3)
    }

    private func blockingChanges(_ client: StoreClient) throws {
        #expect(try client.updateAll("Story", ["isFeatured": true], where: nil).count == 8)
        #expect(try client.updateAll(where: #Predicate<Story> { $0.words < 0 }).count == 1)
        let deleted = try client.deleteAll(where: #Predicate<Story> { $0.words > 0 })
        #expect(deleted == AffectedObjects(count: 6))
        #expect(try client.deleteAll("Story", where: "words <= %@", arguments: [0]).count == 2)
        #expect(try client.count("Story") == 0)
    }

    private func blocking(
        _ client: StoreClient, _ predicate: Predicate<Story>, _ expected: [Story]
    ) throws {
        #expect(try client.count(where: predicate) == Int64(expected.count))
        #expect(try client.fetch(where: predicate).count == expected.count)
        let rows = try client.aggregate(where: predicate, [.count])
        #expect(rows.map { $0["count"] } == [.int(Int64(expected.count))])
    }

    @Test("what the store computes")
    func functions() throws {
        let stories = try StoryStore()
        try stories.agree(#Predicate { $0.words + 1 > 101 })
        try stories.agree(#Predicate { ($0.words - 100) * 2 == 2 })
        try stories.agree(#Predicate { $0.words / 7 == 0 })
        try stories.agree(#Predicate { $0.words % 2 == 1 })
        try stories.agree(#Predicate { $0.words % 2 == -1 })
        try stories.agree(#Predicate { -$0.words > 0 })
        try stories.agree(#Predicate { $0.rating / 2.0 > 1.5 })
        try stories.agree(#Predicate { $0.title.count > 5 })
        try stories.agree(#Predicate { $0.title.count == 8 })
        try stories.agree(#Predicate { ($0.pages ?? 1) > 0 })
        try stories.agree(#Predicate { ($0.subtitle ?? "none") != "b" })
        try stories.agree(#Predicate { ($0.isPublished ? $0.words : 100) == 100 })
        try stories.agree(
            #Predicate { if $0.isPublished { $0.words > 5 } else { $0.rating > 2 } })
        try stories.agree(#Predicate { $0.section?.stories.count == 4 })
        try stories.agree(#Predicate { $0.section?.stories.count != 4 })
        try stories.agree(#Predicate { ($0.section?.stories.count ?? 2) == 2 })
        try stories.agree(#Predicate { ($0.words > 100) == $0.isPublished })
    }
}
