import FoundationEssentials
import LarderClient
import LarderModel
import Testing

private let title = "Rust"

private struct Filter: Codable {
    var count: Int
}

private let object = PersistentIdentifier(
    store: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
    entityName: "Category", key: 7)

@Suite("Translation of Swift predicates")
struct PredicateTests {
    @Test("comparisons in a Swift predicate are translated, with captured values as arguments")
    func comparisons() throws {
        #expect(try translated(#Predicate { $0.title == title }) == #"title == %@ <- "Rust""#)
        #expect(try translated(#Predicate { title != $0.title }) == #"%@ != title <- "Rust""#)
        #expect(try translated(#Predicate { $0.wordCount < 9 }) == "wordCount < %@ <- 9")
        #expect(try translated(#Predicate { $0.wordCount <= 9 }) == "wordCount <= %@ <- 9")
        #expect(try translated(#Predicate { $0.rating > 0.5 }) == "rating > %@ <- 0.5")
        #expect(try translated(#Predicate { $0.rating >= 0.5 }) == "rating >= %@ <- 0.5")
        #expect(
            try translated(#Predicate { $0.author.name == $0.title }) == "author.name == title")
        let kind = Article.Kind.review
        #expect(try translated(#Predicate { $0.kind == kind }) == #"kind == %@ <- "review""#)
    }

    @Test("type tests and inherited properties of a subentity are translated")
    func types() throws {
        #expect(try translated(#Predicate { $0.author is Critic }) == "author IS Critic")
        #expect(try translated(#Predicate { !($0.author is Critic) }) == "NOT author IS Critic")
        let inherited = try BoundExpression(
            #Predicate<Critic> { $0.name == "Ann" && $0.strictness > 1 })
        #expect(inherited.expression.format == "name == %@ AND strictness > %@")
    }

    @Test("a cast in a Swift predicate reads the properties of a subentity, or nil")
    func casts() throws {
        let strict = #Predicate<Article> { article in
            if let critic = article.author as? Critic { critic.strictness > 1 } else { false }
        }
        #expect(try translated(strict) == "author.Critic.strictness > %@ <- 1")
        let lenient = #Predicate<Article> { article in
            if let critic = article.author as? Critic { critic.strictness < 1 } else { true }
        }
        #expect(
            try translated(lenient)
                == "author.Critic == NULL OR author.Critic.strictness < %@ <- 1")
        #expect(
            try translated(#Predicate { ($0.author as? Critic)?.strictness == 2 })
                == "author.Critic.strictness == %@ <- 2")
        #expect(
            try translated(#Predicate { ($0.author as? Critic) != nil }) == "author.Critic != NULL")
        let forced = Predicate<Article> {
            PredicateExpressions.build_Equal(
                lhs: PredicateExpressions.build_KeyPath(
                    root: PredicateExpressions.ForceCast<_, Critic>(
                        PredicateExpressions.build_KeyPath(root: $0, keyPath: \.author)),
                    keyPath: \.name),
                rhs: PredicateExpressions.build_Arg("Ann"))
        }
        #expect(try translated(forced) == #"author.Critic.name == %@ <- "Ann""#)
    }

    @Test("nil and Bools in a Swift predicate are translated to constants")
    func constants() throws {
        #expect(try translated(#Predicate { $0.subtitle == nil }) == "subtitle == NULL")
        #expect(try translated(#Predicate { $0.subtitle != nil }) == "subtitle != NULL")
        let nothing: String? = nil
        #expect(try translated(#Predicate { $0.subtitle == nothing }) == "subtitle == NULL")
        #expect(try translated(#Predicate { $0.isFeatured == true }) == "isFeatured == TRUE")
        #expect(try translated(#Predicate { $0.isFeatured != false }) == "isFeatured != FALSE")
        #expect(try translated(#Predicate { $0.isPublished }) == "isPublished")
        #expect(try translated(#Predicate { !$0.isPublished }) == "NOT isPublished")
    }

    @Test("and, or, not and constant parts of a Swift predicate are translated")
    func logic() throws {
        #expect(
            try translated(
                #Predicate { $0.isPublished && $0.wordCount > 1 && $0.rating < 3 })
                == "isPublished AND wordCount > %@ AND rating < %@ <- 1, 3.0")
        #expect(
            try translated(#Predicate { ($0.isPublished || $0.wordCount > 1) && $0.rating < 3 })
                == "(isPublished OR wordCount > %@) AND rating < %@ <- 1, 3.0")
        #expect(
            try translated(#Predicate { !($0.isPublished || $0.wordCount > 1) })
                == "NOT (isPublished OR wordCount > %@) <- 1")
        let search = ""
        #expect(
            try translated(#Predicate { search.isEmpty || $0.title.contains(search) })
                == "TRUEPREDICATE")
        let words = "x"
        #expect(
            try translated(#Predicate { words.isEmpty || $0.title.contains(words) })
                == #"title CONTAINS %@ <- "x""#)
        let limit: Int? = nil
        #expect(
            try translated(#Predicate { limit != nil && $0.wordCount == 1 }) == "FALSEPREDICATE")
        #expect(try translated(Predicate<Article>.true) == "TRUEPREDICATE")
        #expect(try translated(Predicate<Article>.false) == "FALSEPREDICATE")
    }

    @Test("key paths through optional relationships are translated")
    func keyPaths() throws {
        #expect(
            try translated(#Predicate { $0.author.name == "Ann" })
                == #"author.name == %@ <- "Ann""#)
        #expect(
            try translated(#Predicate { $0.category?.name == "News" })
                == #"category.name == %@ <- "News""#)
        #expect(
            try translated(#Predicate { $0.category!.name == "News" })
                == #"category.name == %@ <- "News""#)
        #expect(
            try translated(#Predicate { $0.category?.name != "News" })
                == #"category.name != %@ <- "News""#)
        #expect(try translated(#Predicate { $0.category == nil }) == "category == NULL")
        let filter = Filter(count: 4)
        #expect(
            try translated(#Predicate { $0.author.name.count < filter.count })
                == "length(author.name) < %@ <- 4")
    }

    @Test("an object in a Swift predicate is translated to its identifier")
    func identity() throws {
        let uri = object.description
        #expect(
            try translated(#Predicate { $0.persistentModelID == object })
                == "SELF == %@ <- \(uri)")
        #expect(
            try translated(#Predicate { $0.category?.persistentModelID == object })
                == "category == %@ <- \(uri)")
        let objects: Set = [object]
        #expect(
            try translated(#Predicate { objects.contains($0.persistentModelID) })
                == "SELF IN %@ <- {\(uri)}")
        #expect(
            try translated(#Predicate { $0.author.persistentModelID == $0.persistentModelID })
                == "author == SELF")
    }

    @Test("if let, ?? and optional chains in a Swift predicate are translated")
    func optionals() throws {
        #expect(
            try translated(#Predicate { ($0.subtitle ?? "none") == "none" })
                == #"coalesce(subtitle, %@) == %@ <- "none", "none""#)
        #expect(try translated(#Predicate { $0.isFeatured ?? false }) == "isFeatured == TRUE")
        #expect(try translated(#Predicate { $0.isFeatured ?? true }) == "isFeatured != FALSE")
        #expect(
            try translated(#Predicate { $0.subtitle?.contains("x") == true })
                == #"subtitle CONTAINS %@ <- "x""#)
        #expect(
            try translated(#Predicate { $0.subtitle?.contains("x") == false })
                == #"subtitle != NULL AND NOT subtitle CONTAINS %@ <- "x""#)
        #expect(
            try translated(#Predicate { $0.subtitle?.contains("x") != true })
                == #"NOT subtitle CONTAINS %@ <- "x""#)
        #expect(
            try translated(#Predicate { $0.subtitle?.contains("x") ?? true })
                == #"subtitle == NULL OR subtitle CONTAINS %@ <- "x""#)
        #expect(
            try translated(#Predicate { $0.subtitle?.isEmpty ?? false })
                == #"subtitle != NULL AND subtitle == """#)
        #expect(
            try translated(
                #Predicate {
                    if let category = $0.category { category.name == "News" } else { false }
                }) == #"category.name == %@ <- "News""#)
        #expect(
            try translated(
                #Predicate {
                    if let pages = $0.pageCount { pages != 3 } else { $0.isPublished }
                })
                == "pageCount != NULL AND pageCount != %@ OR pageCount == NULL AND isPublished <- 3"
        )
        #expect(
            try translated(#Predicate { $0.category?.articles.count == 0 })
                == "ternary(category != NULL, category.articles.@count, NULL) == %@ <- 0")
        #expect(
            try translated(#Predicate { $0.subtitle.flatMap { $0.count > 3 } == nil })
                == "subtitle == NULL")
    }

    @Test("conditional expressions in a Swift predicate choose between values and predicates")
    func conditions() throws {
        #expect(
            try translated(#Predicate { ($0.isPublished ? $0.wordCount : 0) > 5 })
                == "ternary(isPublished, wordCount, %@) > %@ <- 0, 5")
        #expect(
            try translated(#Predicate { if $0.isPublished { $0.wordCount > 5 } else { false } })
                == "isPublished AND wordCount > %@ <- 5")
        #expect(
            try translated(#Predicate { if $0.isPublished { $0.wordCount > 5 } else { true } })
                == "NOT isPublished OR wordCount > %@ <- 5")
        #expect(
            try translated(
                #Predicate { if $0.isPublished { $0.wordCount > 5 } else { $0.rating > 2 } })
                == "ternary(isPublished, wordCount > %@, rating > %@) == TRUE <- 5, 2.0")
        let isStrict = true
        #expect(
            try translated(#Predicate { isStrict ? $0.wordCount > 5 : true })
                == "wordCount > %@ <- 5")
    }

    @Test("arithmetic in a Swift predicate is translated")
    func arithmetic() throws {
        let step = 3
        #expect(
            try translated(#Predicate { $0.wordCount + step > 5 }) == "wordCount + %@ > %@ <- 3, 5")
        #expect(
            try translated(#Predicate { ($0.wordCount - 1) * 2 == 4 })
                == "(wordCount - %@) * %@ == %@ <- 1, 2, 4")
        #expect(
            try translated(#Predicate { $0.wordCount / 2 == 4 }) == "wordCount / %@ == %@ <- 2, 4")
        #expect(
            try translated(#Predicate { $0.wordCount % 2 == 1 })
                == "modulus(wordCount, %@) == %@ <- 2, 1")
        #expect(
            try translated(#Predicate { $0.rating / 2.0 > 1.5 }) == "rating / %@ > %@ <- 2.0, 1.5")
        #expect(try translated(#Predicate { -$0.wordCount < step }) == "-wordCount < %@ <- 3")
        #expect(try translated(#Expression { $0.wordCount * 2 }) == "wordCount * %@ <- 2")
        #expect(try translated(#Expression { $0.title }) == "title")
        let (one, none) = (1, 0)
        #expect(
            try translated(#Predicate { $0.wordCount == one / none })
                == "wordCount == %@ / %@ <- 1, 0")
    }

    @Test("ranges in a Swift predicate are translated to BETWEEN or two comparisons")
    func ranges() throws {
        #expect(
            try translated(#Predicate { (1...5).contains($0.wordCount) })
                == "wordCount BETWEEN {%@, %@} <- 1, 5")
        #expect(
            try translated(#Predicate { (1..<5).contains($0.wordCount) })
                == "wordCount >= %@ AND wordCount < %@ <- 1, 5")
        let range = 1..<5
        #expect(
            try translated(#Predicate { range.contains($0.wordCount) })
                == "wordCount >= %@ AND wordCount < %@ <- 1, 5")
        let (from, through) = (0.5..., ...0.5)
        #expect(try translated(#Predicate { from.contains($0.rating) }) == "rating >= %@ <- 0.5")
        #expect(try translated(#Predicate { through.contains($0.rating) }) == "rating <= %@ <- 0.5")
    }

    @Test("string functions in a Swift predicate are translated to their operators")
    func strings() throws {
        // The macro does not accept `.orderedSame` without its type.
        let (same, less) = (ComparisonResult.orderedSame, ComparisonResult.orderedAscending)
        let more = ComparisonResult.orderedDescending
        #expect(
            try translated(#Predicate { $0.title.contains("x") })
                == #"title CONTAINS %@ <- "x""#)
        #expect(
            try translated(#Predicate { $0.title.starts(with: "x") })
                == #"title BEGINSWITH %@ <- "x""#)
        #expect(
            try translated(#Predicate { $0.title.localizedStandardContains("x") })
                == #"title CONTAINS[cd] %@ <- "x""#)
        #expect(
            try translated(#Predicate { $0.title.caseInsensitiveCompare("x") == same })
                == #"title ==[c] %@ <- "x""#)
        #expect(
            try translated(#Predicate { $0.title.caseInsensitiveCompare("x") != same })
                == #"title !=[c] %@ <- "x""#)
        #expect(
            try translated(#Predicate { $0.title.caseInsensitiveCompare("x") == less })
                == #"title <[c] %@ <- "x""#)
        #expect(
            try translated(#Predicate { $0.title.caseInsensitiveCompare("x") != more })
                == #"NOT title >[c] %@ <- "x""#)
        #expect(
            try translated(#Predicate { $0.title.localizedCompare("x") == same })
                == #"title == %@ <- "x""#)
        #expect(try translated(#Predicate { $0.title.count > 3 }) == "length(title) > %@ <- 3")
        #expect(try translated(#Predicate { $0.title.isEmpty }) == #"title == """#)
    }

    @Test("a captured collection is one argument of a Swift predicate, whatever its length")
    func lists() throws {
        let counts = [3, 1, 3]
        #expect(
            try translated(#Predicate { counts.contains($0.wordCount) })
                == "wordCount IN %@ <- {3, 1, 3}")
        let optionals: [String?] = ["a", nil]
        #expect(
            try translated(#Predicate { optionals.contains($0.subtitle) })
                == #"subtitle IN %@ <- {"a", null}"#)
        let none: [Int] = []
        #expect(
            try translated(#Predicate { none.contains($0.wordCount) }) == "wordCount IN %@ <- {}")
        #expect(
            try translated(#Predicate { $0.wordCount > (counts.max() ?? 0) })
                == "wordCount > %@ <- 3")
        #expect(
            try translated(#Predicate { $0.wordCount > counts[1] }) == "wordCount > %@ <- 1")
        let limits = ["a": 5]
        #expect(
            try translated(#Predicate { $0.wordCount > limits["b", default: 2] })
                == "wordCount > %@ <- 2")
    }
}
