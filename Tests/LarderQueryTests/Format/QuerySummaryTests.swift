import LarderModel
import Testing

@Suite("The summary of a query")
struct QuerySummaryTests {
    @Test("the summary of a query has its kind, predicate, groups and order")
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

    @Test("the summary of a query writes a tree as a format string, without the arguments")
    func tree() {
        let tree = QueryExpression.comparison(
            Comparison(.keyPath("wordCount"), .greaterThan, .argument(0)))
        #expect(
            Query.count(entityName: "Article", predicate: .tree(tree)).summary
                == "count where wordCount > %@")
    }

    @Test("a long summary of a query is truncated")
    func long() {
        let text = String(repeating: "é", count: 1_000)
        let summary = Query.count(entityName: "Article", predicate: .format(text)).summary
        #expect(summary.count == 256)
        #expect(summary.hasSuffix("é…"))
    }
}
