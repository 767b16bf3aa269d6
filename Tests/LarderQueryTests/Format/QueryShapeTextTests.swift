import LarderModel
import LarderQuery
import Testing

@Suite("The shape of a query as text")
struct QueryShapeTextTests {
    private func shape(_ text: String) -> String { PredicateFormat.shape(of: text) }

    @Test("literals of a format string are placeholders, and the rest stays as it is written")
    func literals() {
        #expect(shape("name == \"Ann's\"  AND age >= 18.5") == "name == %@  AND age >= %@")
        #expect(shape("name IN {'a', 'b'}") == "name IN {%@, %@}")
        #expect(shape("isDone == YES OR isDone == false") == "isDone == %@ OR isDone == %@")
        #expect(shape("note != nil AND #true == $x") == "note != nil AND #true == $x")
        #expect(shape("%K == %@ && ANY tags.name LIKE %s") == "%K == %@ && ANY tags.name LIKE %s")
        #expect(
            shape("SUBQUERY(tags, $t, $t.n == 1).@count > 2")
                == "SUBQUERY(tags, $t, $t.n == %@).@count > %@")
        #expect(shape("") == "")
    }

    @Test("a format string with an error is cut off before it, so that no value is shown")
    func malformed() {
        #expect(shape("name == \"secret") == "name ==…")
        #expect(shape("name == 'a' ? secret") == "name == %@…")
    }

    @Test("a query has its columns, groups and order without the names that may have values")
    func queries() {
        let fetch = Fetch(
            "Article", where: .format("wordCount > 7"),
            sort: [SortKey("title", descending: true), SortKey("wordCount * 2")],
            selection: .columns([QueryColumn("title", name: "secret"), "wordCount + 1"]),
            isDistinct: true)
        #expect(
            Query.fetch(fetch).shape
                == "fetch distinct title, wordCount + %@ where wordCount > %@ "
                + "sort by title:desc, wordCount * %@")
        let aggregate = Aggregate(
            "Article", groupBy: [QueryColumn("category.name", name: "secret")],
            [.count, .init(.sum, "wordCount", where: "title == \"secret\"")],
            having: .format("count > 3"), includesSubentities: false)
        #expect(
            Query.aggregate(aggregate).shape
                == "aggregate count, sum(wordCount) where title == %@ group by category.name "
                + "having count > %@ without subentities")
        let identifiers = Fetch("Article", selection: .identifiers, prefetch: [])
        #expect(Query.fetch(identifiers).shape == "fetch identifiers")
    }

    @Test("a tree with constants has a placeholder for each but nil")
    func trees() {
        let tree = QueryExpression.and([
            .comparison(
                Comparison(.keyPath("name"), .equal, .constant(.string("secret")))),
            .comparison(Comparison(.keyPath("note"), .notEqual, .constant(.null))),
        ])
        #expect(
            Query.count(entityName: "Article", predicate: .tree(tree)).shape
                == "count where name == %@ AND note != NULL")
    }

    @Test("a long shape is cut off")
    func long() {
        let text = Array(repeating: "wordCount > 1", count: 200).joined(separator: " OR ")
        let shape = Query.count(entityName: "Article", predicate: .format(text)).shape
        #expect(shape.count == 512)
        #expect(shape.hasSuffix("…"))
    }
}
