import FoundationEssentials
import LarderClient
import LarderModel
import Testing

@Suite("Searches for words in Swift predicates")
struct TextSearchTests {
    private func article(_ title: String, _ subtitle: String? = nil) -> Article {
        let id = PersistentIdentifier(store: UUID(), entityName: "Article", key: 1)
        return Article(
            persistentModelID: id, title: title, subtitle: subtitle, wordCount: 1, serial: 1,
            rating: 1, isPublished: true, date: Date(timeIntervalSinceReferenceDate: 0),
            kind: .essay, keywords: [], notDeclared: "",
            author: Author(id, name: "Ann"), comments: [])
    }

    @Test("a text search is translated to SEARCH and score, with its text as an argument")
    func translation() throws {
        let search = try TextSearch("larder -redis", in: \Article.title, \Article.subtitle)
        #expect(
            try translated(#Predicate { search.contains($0) })
                == #"search(title, subtitle, %@) <- "larder -redis""#)
        #expect(
            try translated(#Predicate { search.contains($0) && $0.wordCount > 9 })
                == #"search(title, subtitle, %@) AND wordCount > %@ <- "larder -redis", 9"#)
        #expect(
            try translated(#Predicate { !search.contains($0) })
                == #"NOT search(title, subtitle, %@) <- "larder -redis""#)
        #expect(
            try translated(search.score)
                == #"score(title, subtitle, %@) <- "larder -redis""#)
        let inComments = try TextSearch("larder", in: \Comment.text)
        #expect(
            try translated(#Predicate { $0.comments.contains { inComments.contains($0) } })
                == "SUBQUERY(comments, $e1, search($e1.text, %@)).@count > 0 <- \"larder\"")
        guard case .tree(let key) = search.bestFirst.term else {
            Issue.record("the sort key is no tree")
            return
        }
        #expect(key.format == #"score(title, subtitle, "larder -redis")"#)
        #expect(search.bestFirst.isDescending)
    }

    @Test("a text search is evaluated in memory too")
    func memory() throws {
        let search = try TextSearch(
            "emile larder* -redis", in: \Article.title, \Article.subtitle)
        let isFound = #Predicate<Article> { search.contains($0) }
        #expect(try isFound.evaluate(article("Larders", "of Émile")))
        #expect(try !isFound.evaluate(article("Larders of Redis", "Émile")))
        #expect(try !isFound.evaluate(article("Larders")))
        let both = article("larder larder", "Émile")
        #expect(search.score(of: both) > search.score(of: article("larder", "Émile")))
        #expect(search.score(of: article("pantry")) == 0)
        #expect(try search.score.evaluate(both) == search.score(of: both))
    }

    @Test("a malformed text search, or one of attributes that are not strings, is an error")
    func errors() {
        func code(_ make: () throws(LarderError) -> TextSearch<Article>) -> ErrorCode? {
            do throws(LarderError) {
                _ = try make()
                return nil
            } catch {
                return error.code
            }
        }
        #expect(
            code { () throws(LarderError) in try TextSearch("\"open", in: \Article.title) }
                == .malformedValue)
        #expect(
            code { () throws(LarderError) in try TextSearch<Article>("larder") }
                == .malformedValue)
        #expect(
            code { () throws(LarderError) in try TextSearch("larder", in: \Article.wordCount) }
                == .wrongType)
        #expect(
            code { () throws(LarderError) in try TextSearch("larder", in: \Article.notDeclared) }
                == .unsupportedPredicate)
        #expect(
            code { () throws(LarderError) in
                try TextSearch("larder", in: \Article.persistentModelID)
            } == .unsupportedPredicate)
        let many = Array(repeating: "word", count: Limits.searchWordsMax + 1)
            .joined(separator: " ")
        #expect(
            code { () throws(LarderError) in try TextSearch(many, in: \Article.title) }
                == .resourceExhausted)
    }

    @Test("encoding or decoding a text search is an error")
    func coding() throws {
        let search = try TextSearch("larder", in: \Article.title)
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(search) }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(TextSearch<Article>.self, from: Data("{}".utf8))
        }
    }
}
