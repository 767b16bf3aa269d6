import CoreData
import Testing

@Suite("Expressions")
struct ExpressionTests {
    @Test(
        "each function of Core Data has its value",
        arguments: [
            ("add:to:", [2, 3], 5), ("from:subtract:", [7, 3], 4), ("multiply:by:", [6, 7], 42),
            ("divide:by:", [9, 3], 3), ("modulus:by:", [9, 4], 1), ("sqrt:", [16], 4),
            ("abs:", [-3], 3), ("floor:", [2.5], 2), ("ceiling:", [2.5], 3), ("trunc:", [-2.5], -2),
            ("raise:toPower:", [2, 10], 1_024), ("exp:", [0], 1), ("ln:", [1], 0),
            ("log:", [1_000], 3), ("bitwiseAnd:with:", [12, 10], 8),
            ("bitwiseOr:with:", [12, 10], 14), ("bitwiseXor:with:", [12, 10], 6),
            ("leftshift:by:", [1, 4], 16), ("rightshift:by:", [16, 4], 1),
        ] as [(String, [Double], Double)])
    func functions(_ name: String, _ operands: [Double], _ value: Double) throws {
        let isBitwise = name.contains("itwise") || name.contains("shift") || name == "modulus:by:"
        let constants: [Any] = operands.map { isBitwise ? Int($0) as Any : $0 as Any }
        let expression = NSExpression(forFunction: name, arguments: constants)
        let found = try expression.value(for: nil) as? NSNumber
        #expect(abs((found?.doubleValue ?? .nan) - value) < 1e-9)
        #expect(expression.function == name)
        #expect(expression.arguments?.count == operands.count)
        #expect(expression.expressionType == .function)
    }

    @Test("functions of texts have their values")
    func texts() throws {
        func value(_ name: String) throws -> String? {
            try NSExpression(forFunction: name, arguments: ["Élan"]).value(for: nil) as? String
        }
        #expect(try value("uppercase:") == "ÉLAN")
        #expect(try value("lowercase:") == "élan")
        #expect(try value("canonical:") == "elan")
        let length = NSExpression(forFunction: "length:", arguments: ["Élan"])
        #expect(length.expressionValue(with: nil, context: nil) as? Int == 4)
    }

    @Test("expressions have values for objects, dictionaries and single values")
    func values() throws {
        let context = try Library.filled()
        let emil = try context.article("Emil")
        #expect(
            NSExpression(forKeyPath: "words").expressionValue(with: emil, context: nil) as? Int
                == 400)
        #expect(
            NSExpression(format: "words * 2 + %d", 1).expressionValue(with: emil, context: nil)
                as? Int == 801)
        #expect(
            NSExpression(forKeyPath: "category.name").expressionValue(with: emil, context: nil)
                as? String == "sport")
        #expect(
            NSExpression(forKeyPath: "category.articles.@count").expressionValue(
                with: emil, context: nil) as? Int == 2)
        #expect(
            NSExpression(forKeyPath: "category").expressionValue(with: emil, context: nil)
                as? Category === emil.category)
        #expect(
            NSExpression.expressionForEvaluatedObject().expressionValue(with: emil, context: nil)
                as? Article === emil)
        #expect(
            NSExpression(format: "a + 1").expressionValue(with: ["a": 2], context: nil) as? Int == 3
        )
        #expect(
            NSExpression(format: "SELF * 2").expressionValue(with: 4, context: nil) as? Int == 8)
    }

    @Test("a conditional expression, a subquery and a list have the parts that they are made of")
    func parts() throws {
        let context = try Library.filled()
        let isLong = NSPredicate(format: "words > 250")
        let kind = NSExpression(
            forConditional: isLong, trueExpression: NSExpression(forConstantValue: "long"),
            falseExpression: NSExpression(forConstantValue: "short"))
        #expect(kind.expressionType == .conditional)
        #expect(kind.predicate === isLong)
        #expect(kind.true?.constantValue as? String == "long")
        #expect(kind.false?.constantValue as? String == "short")
        #expect(try kind.value(for: try context.article("fox")) as? String == "long")
        let subquery = NSExpression(
            forSubquery: NSExpression(forKeyPath: "articles"), usingIteratorVariable: "a",
            predicate: NSPredicate(format: "$a.words > 150"))
        #expect(subquery.expressionType == .subquery)
        #expect(subquery.variable == "a")
        #expect((subquery.collection as? NSExpression)?.keyPath == "articles")
        let count = NSComparisonPredicate(
            leftExpression: NSExpression(forFunction: "count:", arguments: [subquery]),
            rightExpression: NSExpression(forConstantValue: 1), modifier: .direct, type: .equalTo)
        let request = NSFetchRequest<Category>(entityName: "Category")
        request.predicate = count
        #expect(try context.fetch(request).map(\.name) == ["news"])
        let list = NSExpression(forAggregate: ["Ann", NSExpression(forConstantValue: "fox")])
        #expect(list.expressionType == .aggregate)
        #expect((list.collection as? [NSExpression])?.count == 2)
        let among = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "title"), rightExpression: list,
            modifier: .direct, type: .in)
        #expect(try context.titles(among) == ["Ann", "fox"])
        let variable = NSExpression(forVariable: "x")
        #expect(variable.variable == "x" && variable.expressionType == .variable)
        #expect("\(variable)" == "$x")
        #expect(
            NSExpression(format: "a + 1")
                == NSExpression(
                    forFunction: "add:to:",
                    arguments: [
                        NSExpression(forKeyPath: "a"), 1,
                    ]))
    }

    @Test("an expression may be a value of a format")
    func nested() throws {
        let context = try Library.filled()
        let words = NSExpression(forKeyPath: "words")
        #expect(try context.titles(NSPredicate(format: "%@ == 300", words)) == ["dora"])
    }

    @Test(
        "an unknown function, a wrong number of operands and a text that is no key path are errors",
        arguments: [
            NSExpression(forFunction: "foo:", arguments: [1]),
            NSExpression(forFunction: "random", arguments: []),
            NSExpression(forFunction: "add:to:", arguments: [1]),
            NSExpression(forFunction: "sum:", arguments: [1]),
            NSExpression(
                forFunction: "count:", arguments: [NSExpression.expressionForEvaluatedObject()]),
            NSExpression(forKeyPath: ""), NSExpression(forKeyPath: "a b"),
            NSExpression(forKeyPath: ".a"), NSExpression(forKeyPath: "a."),
            NSExpression(forConstantValue: Library.model()), NSExpression(format: "1 +"),
        ].map(Unchecked.init))
    func mistakes(_ expression: Unchecked<NSExpression>) throws {
        let context = try Library.filled()
        let ann = try context.article("Ann")
        #expect(throws: NSError.self) { try expression.value.value(for: ann) }
        #expect(expression.value.expressionValue(with: ann, context: nil) == nil)
        #expect(!expression.value.description.isEmpty)
    }
}

/// Sendable unchecked: a constant of a test.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
