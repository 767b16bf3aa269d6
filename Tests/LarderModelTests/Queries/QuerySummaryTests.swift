import LarderModel
import Testing

@Suite("The summary of a query")
struct QuerySummaryTests {
    @Test("it has the kind, the predicate, the groups and the order")
    func parts() {
        let fetch = Fetch(
            "Article", where: .format("wordCount > %@"),
            sort: [SortKey("title", descending: true), SortKey("wordCount")])
        #expect(
            Query.fetch(fetch).summary
                == "fetch where wordCount > %@ sort by title:desc, wordCount")
        #expect(Query.count(entityName: "Article", predicate: nil).summary == "count")
        let aggregate = Aggregate(
            "Article", where: .format("title != nil"), groupBy: ["category"],
            [.count, .init(.sum, "wordCount")])
        #expect(
            Query.aggregate(aggregate).summary
                == "aggregate count, sum:wordCount where title != nil group by category")
    }

    @Test("a tree is written as a format string, with the arguments left out")
    func tree() {
        let tree = QueryExpression.comparison(
            Comparison(.keyPath("wordCount"), .greaterThan, .argument(0)))
        #expect(
            Query.count(entityName: "Article", predicate: .tree(tree)).summary
                == "count where wordCount > %@")
    }

    @Test("a long one is cut off")
    func long() {
        let text = String(repeating: "é", count: 1_000)
        let summary = Query.count(entityName: "Article", predicate: .format(text)).summary
        #expect(summary.count == 256)
        #expect(summary.hasSuffix("é…"))
    }
}
