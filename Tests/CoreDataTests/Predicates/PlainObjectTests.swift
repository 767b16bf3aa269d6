import CoreData
import Testing

/// Predicates for dictionaries and single values, as Foundation's documentation shows them.
@Suite("Predicates for values in memory")
struct PlainObjectTests {
    @Test("a single value is SELF")
    func single() {
        let names = ["Nicolas", "Ann", "anton", "Bob"]
        func filtered(_ format: String) -> [String] {
            names.filter { NSPredicate(format: format).evaluate(with: $0) }
        }
        #expect(filtered("SELF BEGINSWITH[c] 'a'") == ["Ann", "anton"])
        #expect(filtered("SELF CONTAINS 'o'") == ["Nicolas", "anton", "Bob"])
        #expect(filtered("SELF MATCHES '[A-Z].{2}'") == ["Ann", "Bob"])
        #expect(filtered("SELF IN {'Ann', 'Bob'}") == ["Ann", "Bob"])
        #expect(filtered("length(SELF) > 4") == ["Nicolas", "anton"])
        #expect(NSPredicate(format: "SELF > 3").evaluate(with: 4))
        #expect(!NSPredicate(format: "SELF > 3").evaluate(with: 3))
        #expect(NSPredicate(format: "SELF == nil").evaluate(with: nil))
        #expect(!NSPredicate(format: "SELF > 3").evaluate(with: "text"))
    }

    @Test("a dictionary is an object, with dictionaries and lists of them as related objects")
    func dictionaries() throws {
        let people: [[String: Any]] = [
            ["name": "Ann", "age": 30, "city": ["name": "Rome"], "pets": [["kind": "cat"]]],
            [
                "name": "Bob", "age": 41, "city": ["name": "Oslo"],
                "pets": [["kind": "dog"], ["kind": "cat"]],
            ],
        ]
        func names(_ format: String) -> [String] {
            people.filter { NSPredicate(format: format).evaluate(with: $0) }
                .compactMap { $0["name"] as? String }
        }
        #expect(names("age > 35") == ["Bob"])
        #expect(names("name LIKE[c] 'a*'") == ["Ann"])
        #expect(names("city.name == 'Oslo'") == ["Bob"])
        #expect(names("ANY pets.kind == 'dog'") == ["Bob"])
        #expect(names("pets.@count == 1") == ["Ann"])
        #expect(names("SUBQUERY(pets, $p, $p.kind == 'cat').@count == 1") == ["Ann", "Bob"])
        #expect(names("nickname == nil") == ["Ann", "Bob"])
        #expect(names("name == 5") == [])
        #expect(NSPredicate(format: "a == 1").evaluate(with: NSDictionary(dictionary: ["a": 1])))
        #expect(throws: NSError.self) {
            try NSPredicate(format: "city.street == 'x'").holds(for: people[0])
        }
        #expect(throws: NSError.self) {
            try NSPredicate(format: "a == 1").holds(for: ["a": Library.model()])
        }
        #expect(throws: NSError.self) {
            try NSPredicate(format: "a == 1").holds(for: ["a b": 1])
        }
    }

    @Test("dictionaries that are nested without end are an error")
    func deep() {
        var value: [String: Any] = ["a": 1]
        for _ in 0..<1_000 { value = ["a": value] }
        #expect(throws: NSError.self) { try NSPredicate(format: "a != nil").holds(for: value) }
    }
}
