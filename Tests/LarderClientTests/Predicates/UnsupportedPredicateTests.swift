import FoundationEssentials
import LarderClient
import LarderModel
import LarderWire
import Testing

@Suite("What a store cannot be asked is an error that names it")
struct UnsupportedPredicateTests {
    /// The sentence of the error that says so.
    private func refusal(_ predicate: Predicate<Article>) throws -> String? {
        do throws(LarderError) {
            _ = try BoundExpression(predicate)
            return nil
        } catch {
            return error.code == .unsupportedPredicate ? error.message : "\(error)"
        }
    }

    @Test("key paths that no entity declares, and properties of values")
    func keyPaths() throws {
        let undeclared = try refusal(#Predicate { $0.notDeclared == "x" })
        #expect(undeclared?.contains("notDeclared") == true)
        #expect(undeclared?.contains("Article does not declare") == true)
        let keywords = try refusal(#Predicate { $0.keywords.count > 1 })
        #expect(keywords?.contains("of a stored Array<String>") == true)
        #expect(
            try refusal(#Predicate { $0.kind.rawValue == "essay" })?.contains("of Kind") == true)
    }

    @Test("casts, subscripts and regular expressions")
    func nodes() throws {
        let check = Predicate<Article> {
            PredicateExpressions.TypeCheck<_, Int>(
                PredicateExpressions.build_KeyPath(root: $0, keyPath: \.wordCount))
        }
        #expect(
            try refusal(check)
                == "whether something is of the type Int cannot be asked of a store")
        let cast = Predicate<Article> {
            PredicateExpressions.build_Equal(
                lhs: PredicateExpressions.ConditionalCast<_, Int>(
                    PredicateExpressions.build_KeyPath(root: $0, keyPath: \.wordCount)),
                rhs: PredicateExpressions.build_Arg(3 as Int?))
        }
        #expect(try refusal(cast) == "a cast with `as?` cannot be asked of a store")
        #expect(
            try refusal(#Predicate { $0.keywords[0] == "x" })
                == "an element of a stored Array<String> cannot be asked of a store")
        #expect(
            try refusal(#Predicate { $0.keywords.contains("x") })
                == "what a stored Array<String> contains cannot be asked of a store")
        #expect(
            try refusal(#Predicate { $0.keywords.contains { $0 == "x" } })
                == "a test of each element of Array<String> cannot be asked of a store")
        #expect(
            try refusal(#Predicate { $0.keywords.max() == "x" })
                == "max() of a stored collection cannot be asked of a store")
    }

    @Test("orders of strings that the store does not know")
    func orders() throws {
        let less = ComparisonResult.orderedAscending
        #expect(
            try refusal(#Predicate { $0.title.localizedCompare("x") == less })
                == "localizedCompare for less or greater cannot be asked of a store")
    }

    @Test("captured values that are no values of a store")
    func captured() throws {
        let large = UInt64.max
        #expect(
            try refusal(#Predicate { $0.serial == large })
                == "a captured UInt64 outside of the store's types cannot be asked of a store")
        let nan = Double.nan
        #expect(
            try refusal(#Predicate { $0.rating < nan })
                == "a captured Double outside of the store's types cannot be asked of a store")
        let comments: [Comment] = []
        #expect(
            try refusal(#Predicate { $0.comments == comments })
                == "whether a to-many relationship equals a collection cannot be asked of a store")
        let nothing: Int? = nil
        #expect(
            try refusal(#Predicate { $0.wordCount > nothing! })
                == "a captured nil that is unwrapped by force cannot be asked of a store")
        let indices = [1]
        #expect(
            try refusal(#Predicate { $0.wordCount > indices[4] })
                == "an index outside of a captured collection cannot be asked of a store")
    }

    @Test("a predicate nested too deep, or a list too long, is refused and not followed")
    func limits() throws {
        let deep = Predicate<Article> { article in
            negated(PredicateExpressions.build_KeyPath(root: article, keyPath: \.isPublished), 600)
        }
        #expect(try refusal(deep)?.contains("RESOURCE_EXHAUSTED") == true)
        let allowed = Predicate<Article> { article in
            negated(PredicateExpressions.build_KeyPath(root: article, keyPath: \.isPublished), 500)
        }
        #expect(try translated(allowed) == "isPublished")
        let list = Array(0...Limits.listElementsMax)
        #expect(
            try refusal(#Predicate { list.contains($0.wordCount) })?
                .contains("RESOURCE_EXHAUSTED") == true)
    }
}

private func negated(
    _ expression: some StandardPredicateExpression<Bool>, _ times: Int
) -> any StandardPredicateExpression<Bool> {
    times == 0
        ? expression : negated(PredicateExpressions.build_Negation(expression), times - 1)
}

@Suite("The server plans a predicate of Swift's once")
struct PredicateShapeTests {
    @Test("other captured values, and lists of other lengths, are the same shape")
    func shapes() throws {
        func shape(_ words: Int, _ title: String, _ counts: [Int]) throws -> QueryShape {
            let predicate = #Predicate<Article> {
                $0.wordCount > words && $0.title.contains(title) && counts.contains($0.wordCount)
            }
            let bound = try BoundExpression(predicate)
            let query = Query.fetch(Fetch("Article", where: .tree(bound.expression)))
            let parameters = QueryParameters(arguments: bound.arguments)
            return try QueryRequest(query, parameters).shape
        }
        #expect(try shape(1, "a", []) == shape(2, "bc", [1, 2, 3]))
    }

    @Test("arguments may stand behind others")
    func offset() throws {
        let bound = try BoundExpression(
            #Predicate<Article> { $0.wordCount > 4 }, argumentsFrom: 2)
        #expect(
            bound.expression
                == .comparison(Comparison(.keyPath("wordCount"), .greaterThan, .argument(2))))
        #expect(bound.arguments == [4])
    }
}

@Suite("Strings are compared in memory as the store compares them")
struct StringComparingTests {
    @Test("with and without case and diacritics")
    func comparing() {
        #expect("Ein Café".localizedStandardContains("CAFE"))
        #expect(!"Ein Café".localizedStandardContains("Tee"))
        #expect("Straße".caseInsensitiveCompare("STRAßE") == .orderedSame)
        #expect("a".caseInsensitiveCompare("B") == .orderedAscending)
        #expect("b".caseInsensitiveCompare("A") == .orderedDescending)
        #expect("côté".localizedCompare("Cote") == .orderedDescending)
        #expect("cote".localizedCompare("Côté") == .orderedAscending)
        #expect("a".localizedCompare("A") != .orderedSame)
        #expect("e\u{301}".localizedCompare("é") == .orderedSame)
    }
}
