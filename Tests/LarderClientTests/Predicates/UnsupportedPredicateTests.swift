import FoundationEssentials
import LarderClient
import LarderModel
import LarderWire
import Testing

@Suite("Errors for predicates that a store cannot evaluate")
struct UnsupportedPredicateTests {
    /// The message of the error; nil if the predicate is translated.
    private func refusal(_ predicate: Predicate<Article>) throws -> String? {
        do throws(LarderError) {
            _ = try BoundExpression(predicate)
            return nil
        } catch {
            return error.code == .unsupportedPredicate ? error.message : "\(error)"
        }
    }

    @Test("a key path that no entity declares, or to a property of a value, is refused")
    func keyPaths() throws {
        let undeclared = try refusal(#Predicate { $0.notDeclared == "x" })
        #expect(undeclared?.contains("notDeclared") == true)
        #expect(undeclared?.contains("Article does not declare") == true)
        let keywords = try refusal(#Predicate { $0.keywords.count > 1 })
        #expect(keywords?.contains("of a stored Array<String>") == true)
        #expect(
            try refusal(#Predicate { $0.kind.rawValue == "essay" })?.contains("of Kind") == true)
    }

    @Test("casts, subscripts and regular expressions that a store cannot evaluate are refused")
    func nodes() throws {
        let check = Predicate<Article> {
            PredicateExpressions.TypeCheck<_, Int>(
                PredicateExpressions.build_KeyPath(root: $0, keyPath: \.wordCount))
        }
        #expect(
            try refusal(check)
                == "a store cannot evaluate a test for the type Int")
        let cast = Predicate<Article> {
            PredicateExpressions.build_Equal(
                lhs: PredicateExpressions.ConditionalCast<_, Int>(
                    PredicateExpressions.build_KeyPath(root: $0, keyPath: \.wordCount)),
                rhs: PredicateExpressions.build_Arg(3 as Int?))
        }
        #expect(try refusal(cast) == "a store cannot evaluate a cast to Int")
        #expect(
            try refusal(#Predicate { $0.keywords[0] == "x" })
                == "a store cannot evaluate an element of a stored Array<String>")
        #expect(
            try refusal(#Predicate { $0.keywords.contains("x") })
                == "a store cannot evaluate contains on a stored Array<String>")
        #expect(
            try refusal(#Predicate { $0.keywords.contains { $0 == "x" } })
                == "a store cannot evaluate a test of each element of Array<String>")
        #expect(
            try refusal(#Predicate { $0.keywords.max() == "x" })
                == "a store cannot evaluate max() of a stored collection")
    }

    @Test("a string comparison that a store does not have is refused")
    func orders() throws {
        let less = ComparisonResult.orderedAscending
        #expect(
            try refusal(#Predicate { $0.title.localizedCompare("x") == less })
                == "a store cannot evaluate localizedCompare with a result other than orderedSame")
    }

    @Test("a captured value that a store cannot hold is refused")
    func captured() throws {
        let nan = Double.nan
        #expect(
            try refusal(#Predicate { $0.rating < nan })
                == "a store cannot evaluate a captured Double that a store cannot hold")
        let comments: [Comment] = []
        #expect(
            try refusal(#Predicate { $0.comments == comments })
                == "a store cannot evaluate the equality of a to-many relationship and a collection"
        )
        let nothing: Int? = nil
        #expect(
            try refusal(#Predicate { $0.wordCount > nothing! })
                == "a store cannot evaluate a forced unwrap of a captured nil")
        let indices = [1]
        #expect(
            try refusal(#Predicate { $0.wordCount > indices[4] })
                == "a store cannot evaluate an index out of the bounds of a captured collection")
    }

    @Test("a Swift predicate that is too deep, or captures too long a list, is refused")
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

@Suite("The server plans a Swift predicate once")
struct PredicateShapeTests {
    @Test("predicates with other captured values or lists of other lengths have the same shape")
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

    @Test("the arguments of a translated predicate may be numbered after others")
    func offset() throws {
        let bound = try BoundExpression(
            #Predicate<Article> { $0.wordCount > 4 }, argumentsFrom: 2)
        #expect(
            bound.expression
                == .comparison(Comparison(.keyPath("wordCount"), .greaterThan, .argument(2))))
        #expect(bound.arguments == [4])
    }
}

@Suite("Comparisons of strings in memory")
struct StringComparingTests {
    @Test("comparisons of strings in memory consider or ignore case and diacritics")
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
