import LarderClient
import TestSupport

/// Random commits for the property test of live queries.
struct LiveScriptGenerator {
    var choice: SeededGenerator
    private var objectCount = 0

    init(_ choice: SeededGenerator) { self.choice = choice }

    /// Some commits, and a check.
    ///
    /// - Parameter existing: The names of the objects of an entity.
    mutating func round(
        _ existing: (String) throws -> [String], perform: (LiveScript.Step) throws -> Void
    ) throws {
        for _ in 0..<Int.random(in: 1...4, using: &choice) {
            if Int.random(in: 0...9, using: &choice) == 0 {
                try perform(.increment("wordCount < 9"))
            }
            try perform(.save(try edits(existing)))
        }
        try perform(.check)
    }

    private mutating func edits(_ existing: (String) throws -> [String]) throws
        -> [LiveScript.Edit]
    {
        // Many articles at once empty the windows of fetches with a limit, or fill them.
        switch Int.random(in: 0..<16, using: &choice) {
        case 0: return try (0..<20).map { _ in try insertion("Article", existing) }
        case 1:
            let articles = try existing("Article").shuffled(using: &choice)
            return articles.prefix(20).map { LiveScript.Edit(kind: .delete, object: $0) }
        default: break
        }
        var edits: [LiveScript.Edit] = []
        for _ in 0..<Int.random(in: 1...3, using: &choice) {
            let entityName =
                ["Article", "Article", "Category", "ArticleCollection"]
                .randomElement(using: &choice) ?? "Article"
            let object = try existing(entityName).randomElement(using: &choice)
            switch (Int.random(in: 0...5, using: &choice), object) {
            case (let kind, let object?) where kind < 4:
                guard !edits.contains(where: { $0.object == object }) else { continue }
                edits.append(
                    kind == 0
                        ? LiveScript.Edit(kind: .delete, object: object)
                        : LiveScript.Edit(
                            kind: .update, object: object,
                            values: try values(entityName, existing)))
            default: edits.append(try insertion(entityName, existing))
            }
        }
        return edits
    }

    private mutating func insertion(
        _ entityName: String, _ existing: (String) throws -> [String]
    ) throws -> LiveScript.Edit {
        objectCount += 1
        return LiveScript.Edit(
            kind: .insert(entityName: entityName), object: "n\(objectCount)",
            values: try values(entityName, existing))
    }

    private mutating func values(
        _ entityName: String, _ existing: (String) throws -> [String]
    ) throws -> [String: JSONValue] {
        let name = ["a1", "a2", "b1", "b2", "c"].randomElement(using: &choice) ?? "a"
        switch entityName {
        case "Category":
            // Unique, and sometimes one of the names in a query.
            let isPlain = Int.random(in: 0...3, using: &choice) == 0
            let number = UInt16.random(in: 0...999, using: &choice)
            return ["name": .string(isPlain ? name : "\(name)-\(number)")]
        case "ArticleCollection": return ["name": .string(name)]
        default: break
        }
        var values: [String: JSONValue] = ["title": .string(name)]
        if Bool.random(using: &choice) {
            values["wordCount"] = .integer(.random(in: 0...10, using: &choice))
        }
        for (property, destination) in [
            ("category", "Category"), ("collection", "ArticleCollection"),
        ] where Bool.random(using: &choice) {
            let known = try existing(destination).randomElement(using: &choice)
            values[property] = known.map { .string("@\($0)") } ?? .null
        }
        return values
    }
}

extension LiveScript {
    /// The queries of the property test.
    static let randomQueries: [Query] = [
        Query("Article"),
        Query("Article", where: "wordCount > 5", sort: ["title"]),
        Query("Article", sort: ["wordCount:desc", "title"], limit: 4),
        Query(
            "Article",
            where: "substring(concat(title, format(wordCount, 0)), -1) IN {\"1\", \"3\", \"8\"}",
            sort: ["padStart(format(wordCount, 1), 6, title)", "title"]),
        Query(
            "Article", where: "category.name BEGINSWITH \"a\"",
            sort: ["category.name", "wordCount"]),
        Query(
            "Article", where: "category.articles.@count > 2 OR collection != nil", limit: 6,
            columns: ["title", "category.name", "collection.name"]),
        Query("Category", where: "ANY articles.wordCount > 7", sort: ["name:desc"]),
        Query(
            "Category",
            where: "SUBQUERY(articles, $a, $a.collection.name == name AND $a.wordCount < 8)"
                + ".@count > 0"),
        Query(
            "ArticleCollection", where: "articles.@max.wordCount >= %@", [.integer(6)],
            sort: ["articles.@count:desc"]),
        Query(
            "Article", where: "NOT (category.name IN %@)",
            [.array([.string("a1"), .string("b2")])], columns: []),
    ]
}
