import FoundationEssentials
import LarderClient
import LarderModel
import Testing

@Suite("Swift predicates over to-many relationships")
struct CollectionPredicateTests {
    @Test("count and isEmpty of a to-many relationship are translated to @count")
    func counts() throws {
        #expect(
            try translated(#Predicate { $0.comments.count > 2 }) == "comments.@count > %@ <- 2")
        #expect(try translated(#Predicate { $0.comments.isEmpty }) == "comments.@count == 0")
        #expect(try translated(#Predicate { !$0.comments.isEmpty }) == "comments.@count != 0")
        #expect(
            try translated(#Predicate { ($0.reviews ?? []).isEmpty })
                == "reviews.@count == 0")
        #expect(
            try translated(#Predicate { $0.reviews?.count == 3 })
                == "reviews.@count == %@ <- 3")
    }

    @Test("contains, allSatisfy and filter of a to-many relationship are translated to SUBQUERY")
    func tests() throws {
        #expect(
            try translated(#Predicate { $0.comments.contains { $0.stars > 3 } })
                == "SUBQUERY(comments, $e1, $e1.stars > %@).@count > 0 <- 3")
        #expect(
            try translated(#Predicate { $0.comments.allSatisfy { $0.stars > 3 } })
                == "SUBQUERY(comments, $e1, NOT $e1.stars > %@).@count == 0 <- 3")
        #expect(
            try translated(#Predicate { $0.comments.filter { $0.text == "x" }.count == 2 })
                == #"SUBQUERY(comments, $e1, $e1.text == %@).@count == %@ <- "x", 2"#)
        #expect(
            try translated(#Predicate { $0.comments.filter { $0.text == "x" }.isEmpty })
                == #"SUBQUERY(comments, $e1, $e1.text == %@).@count == 0 <- "x""#)
        #expect(
            try translated(
                #Predicate { $0.comments.filter { $0.stars > 1 }.contains { $0.stars < 3 } })
                == "SUBQUERY(comments, $e1, $e1.stars > %@ AND $e1.stars < %@).@count > 0 <- 1, 3")
    }

    @Test(
        "nested closures of a Swift predicate have variables of their own, and can use outer ones")
    func nesting() throws {
        #expect(
            try translated(
                #Predicate { article in
                    article.comments.contains { comment in
                        comment.replies.contains { $0.stars > comment.stars }
                    }
                })
                == "SUBQUERY(comments, $e1, SUBQUERY($e1.replies, $e2, $e2.stars > $e1.stars)"
                + ".@count > 0).@count > 0")
        #expect(
            try translated(
                #Predicate { article in
                    article.comments.contains { $0.text == article.title }
                        && article.comments.allSatisfy { $0.stars > article.wordCount }
                })
                == "SUBQUERY(comments, $e1, $e1.text == title).@count > 0 AND "
                + "SUBQUERY(comments, $e2, NOT $e2.stars > wordCount).@count == 0")
    }

    @Test("a to-many relationship along an optional one is translated with a test for nil")
    func optional() throws {
        #expect(
            try translated(
                #Predicate { $0.category?.articles.contains { $0.isPublished } ?? false })
                == "category != NULL AND "
                + "SUBQUERY(category.articles, $e1, $e1.isPublished).@count > 0")
        #expect(
            try translated(
                #Predicate { article in
                    article.category?.articles.contains { $0.wordCount > article.wordCount } == true
                })
                == "category != NULL AND SUBQUERY(category.articles, $e1, "
                + "$e1.wordCount > wordCount).@count > 0")
    }

    @Test("an object in a to-many relationship is translated to CONTAINS SELF")
    func membership() throws {
        #expect(
            try translated(
                #Predicate { article in
                    article.category?.articles.contains(article) ?? false
                }) == "category.articles CONTAINS SELF")
    }
}
