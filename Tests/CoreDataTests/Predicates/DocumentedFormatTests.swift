import CoreData
import Testing

/// The syntax of format strings and the functions of expressions that Core Data documents, each
/// with its result, or with the error of a form that Larder does not have.
@Suite("The documented syntax of formats")
struct DocumentedFormatTests {
    enum Outcome: Equatable {
        case holds
        case fails
        /// An error with this text.
        case refused(String)
    }

    struct Row: @unchecked Sendable, CustomTestStringConvertible {
        // Sendable unchecked: a constant.
        let format: String
        let arguments: [Any]
        let outcome: Outcome

        init(_ format: String, _ arguments: [Any] = [], _ outcome: Outcome = .holds) {
            self.format = format
            self.arguments = arguments
            self.outcome = outcome
        }

        var testDescription: String { format }
    }

    /// A person with children and employees.
    static var person: [String: Any] {
        [
            "firstName": "Ann", "lastName": "Smith", "age": 40, "height": 1.75, "member": true,
            "birthday": Date(timeIntervalSinceReferenceDate: -86_400), "title": "Café",
            "department": ["name": "Sales"], "SELECT": 3,
            "children": [["age": 10, "name": "Ben"], ["age": 19, "name": "Melissa"]],
            "employees": [["firstName": "Matthew"], ["firstName": "Nick"]], "any": 1,
        ]
    }

    static let comparisons = [
        Row("firstName = 'Ann'"), Row("firstName == \"Ann\""), Row("age >= 40"),
        Row("age => 40"), Row("age <= 40"), Row("age =< 40"), Row("age > 39"),
        Row("age < 41"), Row("age != 41"), Row("age <> 41"), Row("age BETWEEN {0, 40}"),
        Row("1 BETWEEN {0, 33}"), Row("age between %@", [[40, 41]]),
        Row("age BETWEEN {41, 50}", [], .fails), Row("TRUEPREDICATE"),
        Row("FALSEPREDICATE", [], .fails), Row("age > 1 AND age < 99"),
        Row("age > 1 && age < 99"), Row("age < 1 OR age > 30"), Row("age < 1 || age > 30"),
        Row("NOT age < 1"), Row("!(age < 1)"), Row("not (age < 1 or age > 99)"),
        Row("((age == 40))"), Row("40 == age"), Row("age == 40.0"),
        Row("firstName == nil", [], .fails), Row("nickname == NIL"), Row("nickname == NULL"),
        Row("member == YES"), Row("member == TRUE"), Row("member == NO", [], .fails),
        Row("member == false", [], .fails), Row("birthday < %@", [Date()]),
        Row("birthday > %@", [Date()], .fails), Row("age == 4e1"), Row("height > 1.7e0"),
        Row("age == 0x28"), Row("age == 0o50"), Row("age == 0b101000"),
        Row("age == 0b2", [], .refused("column 10:")),
        Row("age == 0o8", [], .refused("column 10:")), Row("age == 0b", [], .refused("column 10:")),
        Row("age == -(-40)"), Row("age == 2 * 20"), Row("age == 20 + 60 / 3"),
        Row("age == 2 ** 5 + 8"), Row("age - 10 == 30"),
    ]

    static let texts = [
        Row("firstName BEGINSWITH 'A'"), Row("firstName beginswith[c] 'a'"),
        Row("lastName CONTAINS 'mit'"), Row("lastName ENDSWITH[cd] 'TH'"),
        Row("title ==[d] 'Cafe'"), Row("title ==[cd] 'cafe'"),
        Row("title ==[c] 'cafe'", [], .fails),
        Row("lastName like[cd] %@", ["s*"]), Row("firstName LIKE 'A?n'"),
        Row("firstName LIKE 'A?'", [], .fails), Row("firstName MATCHES '[A-Z][a-z]+'"),
        Row("firstName MATCHES 'An'", [], .fails), Row("title CONTAINS[d] 'e'"),
        Row("%K like %@", ["firstName", "Ann"]), Row("%K == 'Sales'", ["department.name"]),
        Row("firstName like '%@'", [], .fails),
        Row("(lastName like[cd] %@) AND (birthday < %@)", ["smith", Date()]),
        Row("department.name like 'Sales'"), Row("firstName ==[n] 'Ann'"),
        Row("firstName < lastName"), Row("firstName <=[c] 'b'"), Row("'Ann' == firstName"),
        Row("'Nicolas' CONTAINS firstName", [], .fails), Row("firstName == %@", ["Ann"]),
        Row("firstName UTI-EQUALS 'public.text'", [], .refused("column 11:")),
        Row("firstName UTI-CONFORMS-TO 'public.text'", [], .refused("column 11:")),
    ]

    static let collections = [
        Row("ANY children.age < 18"), Row("SOME children.age < 18"),
        Row("ALL children.age < 18", [], .fails), Row("NONE children.age < 5"),
        Row("ALL children.age < age"), Row("ANY employees.firstName like 'Matthew'"),
        Row("firstName IN {'Ben', 'Melissa', 'Ann'}"), Row("firstName IN %@", [["Ben"]], .fails),
        Row("NOT firstName IN {'Ben'}"), Row("age IN %@", [Set([1, 40])]),
        Row("children.@count == 2"), Row("children.@avg.age == 14.5"),
        Row("children.@sum.age == 29"), Row("children.@min.age == 10"),
        Row("children.@max.age == 19"), Row("SUBQUERY(children, $c, $c.age > 12).@count == 1"),
        Row("SUBQUERY(children, $c, $c.age > 12 AND $c.name == %@).@count > 0", ["Melissa"]),
        Row("SUBQUERY(children, $c, $c.age > age).@count == 0"),
        Row("children[FIRST].age == 10", [], .refused("column 9:")),
        Row("children[0].age == 10", [], .refused("column 9:")),
        Row("children[SIZE] == 2", [], .refused("column 9:")),
        Row("'Sales' IN department.name", [], .refused("column 9:")),
        Row("children.name CONTAINS 'Ben'"),
        Row("'Ben' IN children.name"),
    ]

    static let functions = [
        Row("length(firstName) == 3"), Row("uppercase:(firstName) == 'ANN'"),
        Row("lowercase(firstName) == 'ann'"), Row("abs:(0 - age) == 40"),
        Row("modulus:by:(age, 7) == 5"), Row("sqrt:(age * 10) == 20"),
        Row("add:to:(age, 2) == 42"), Row("from:subtract:(age, 2) == 38"),
        Row("multiply:by:(age, 2) == 80"), Row("divide:by:(age, 4) == 10"),
        Row("raise:toPower:(age, 2) == 1600"), Row("bitwiseAnd:with:(age, 8) == 8"),
        Row("floor:(height) == 1 AND ceiling:(height) == 2"), Row("trunc:(height) == 1"),
        Row("max(children.age) == 19"), Row("count(children) == 2"),
        Row("now() > birthday"), Row("TERNARY(age > 30, 'old', 'young') == 'old'"),
        Row("#any == 1"), Row("SELECT == 3"), Row("any == 1", [], .refused("column 5:")),
        Row("age == $AGE", [], .refused("$AGE")), Row("age == ?", [], .refused("column 8:")),
        Row("CAST(birthday, 'NSNumber') < 0", [], .refused("column 1:")),
        Row("FUNCTION(firstName, 'length') == 3", [], .refused("column 1:")),
        Row("random() > 1", [], .refused("column 1:")),
        Row("noindex:(age) == 40", [], .refused("column 1:")),
        Row("children UNION employees == nil", [], .refused("column 10:")),
    ]

    @Test("each row has its documented result", arguments: comparisons + texts)
    func values(_ row: Row) throws { try check(row) }

    @Test(
        "each row about collections and functions has its documented result",
        arguments: collections + functions)
    func forms(_ row: Row) throws { try check(row) }

    private func check(_ row: Row) throws {
        let predicate = NSPredicate(format: row.format, argumentArray: row.arguments)
        var outcome: Outcome
        do {
            outcome = try predicate.holds(for: Self.person) ? .holds : .fails
        } catch {
            outcome = .refused(error.localizedDescription)
        }
        if case (.refused(let text), .refused(let part)) = (outcome, row.outcome),
            text.contains(part)
        {
            outcome = row.outcome
        }
        #expect(outcome == row.outcome)
        #expect(predicate.evaluate(with: Self.person) == (row.outcome == .holds))
    }

    @Test("a variable has the value that it is given")
    func variables() {
        let format = "lastName like[c] $LAST_NAME AND age BETWEEN {$LOWER, $UPPER}"
        let template = NSPredicate(format: format)
        let values: [String: Any] = ["LAST_NAME": "SMITH", "LOWER": 1, "UPPER": 40]
        #expect(template.withSubstitutionVariables(values).evaluate(with: Self.person))
        #expect(template.evaluate(with: Self.person, substitutionVariables: values))
        #expect(!template.evaluate(with: Self.person))
    }

    static let statistics: [(String, Double)] = [
        ("average:", 4.875), ("sum:", 39), ("count:", 8), ("min:", 1), ("max:", 11),
        ("median:", 4), ("mode:", 4), ("stddev:", 3.218598),
    ]

    @Test("a function of statistics has its value for a list", arguments: statistics)
    func lists(_ name: String, _ value: Double) throws {
        let numbers = [1, 2, 3, 4, 4, 5, 9, 11]
        let list = numbers.map { NSExpression(forConstantValue: $0) }
        for operand in [
            NSExpression(forConstantValue: numbers), NSExpression(forAggregate: list),
            NSExpression(forConstantValue: numbers.map { Double($0) }),
            NSExpression(forConstantValue: NSArray(array: numbers)),
        ] {
            let expression = NSExpression(forFunction: name, arguments: [operand])
            let found = try expression.value(for: nil) as? NSNumber
            #expect(abs((found?.doubleValue ?? .nan) - value) < 1e-5)
            // It is a value like any other in a store.
            let context = try Library.filled()
            let predicate = NSComparisonPredicate(
                leftExpression: expression, rightExpression: NSExpression(forKeyPath: "words"),
                modifier: .direct, type: .lessThanOrEqualTo)
            #expect(try context.titles(predicate).count == 5)
        }
    }

    @Test("a function of statistics without numbers has no value, or is an error")
    func emptyLists() throws {
        func value(_ name: String, _ list: [Any]) throws -> Any? {
            try NSExpression(
                forFunction: name, arguments: [NSExpression(forConstantValue: list)]
            ).value(for: nil)
        }
        #expect(try value("sum:", []) as? Int == 0)
        #expect(try value("count:", []) as? Int == 0)
        #expect(try value("average:", []) == nil)
        #expect(try value("max:", ["b", "a"]) as? String == "b")
        #expect(throws: NSError.self) { try value("sum:", ["a"]) }
        #expect(throws: NSError.self) { try value("max:", ["a", 1]) }
        #expect(throws: NSError.self) { try value("sum:", [Library.model()]) }
    }

    @Test(
        "a function that Larder does not have is an error with its name",
        arguments: [
            "random", "randomn:", "noindex:", "castObject:toType:", "objectFrom:withIndex:",
            "distanceToLocation:fromLocation:",
        ])
    func unsupported(_ name: String) {
        let expression = NSExpression(forFunction: name, arguments: [1])
        let error = #expect(throws: NSError.self) { try expression.value(for: nil) }
        #expect(error?.localizedDescription.contains("`\(name)`") == true)
        #expect(error?.localizedRecoverySuggestion != nil)
    }
}
