import FoundationEssentials
import LarderModel
import LarderStore
import TestSupport
import Testing

@Suite struct RandomPredicateTests {
    @Test("random predicates select in SQL what Swift selects in memory")
    func predicatesMeanTheSame() throws {
        var generator = SeededGenerator.fromEnvironment("predicates")
        let fixture = try QueryFixture(try Self.schema())
        let objects = try Self.fill(fixture, &generator)
        let count = RandomTesting.iterations(500)
        var selectiveCount = 0
        for _ in 0..<count {
            var random = RandomPredicate(generator)
            let predicate = random.predicate(depth: 3)
            generator = random.generator
            let expected = objects.filter {
                PredicateEvaluator(arguments: random.arguments, root: $0).holds(predicate)
            }
            let query = Query.fetch(
                Fetch("Item", where: .tree(predicate), selection: .identifiers))
            let parameters = QueryParameters(arguments: random.arguments)
            let rows = fixture.rows(try fixture.batches(query, parameters))
            #expect(rows == expected.map(\.name), "\(predicate) \(random.arguments)")
            if rows != expected.map(\.name) { return }
            if !rows.isEmpty && rows.count < objects.count { selectiveCount += 1 }
        }
        #expect(selectiveCount > count / 3, "many predicates tell objects apart")
    }

    private static func schema() throws -> Schema {
        try SchemaFile.schema(
            parsing: """
                { "version": "1.0.0", "entities": [ { "name": "Item",
                  "attributes": [
                    { "name": "n", "type": "int64", "optional": true, "indexed": true },
                    { "name": "s", "type": "string", "optional": true, "indexed": true },
                    { "name": "d", "type": "double", "optional": true },
                    { "name": "b", "type": "bool", "optional": true } ],
                  "relationships": [
                    { "name": "parent", "destination": "Item", "inverse": "children" },
                    { "name": "children", "destination": "Item", "toMany": true,
                      "inverse": "parent" },
                    { "name": "friends", "destination": "Item", "toMany": true,
                      "inverse": "friendOf" },
                    { "name": "friendOf", "destination": "Item", "toMany": true,
                      "inverse": "friends" } ] } ] }
                """)
    }

    /// The same objects in the store and in memory.
    private static func fill(
        _ fixture: QueryFixture, _ generator: inout some RandomNumberGenerator
    ) throws -> [PredicateEvaluator.Object] {
        let integers = RandomPredicate<SystemRandomNumberGenerator>.integers.dropLast()
        let strings = RandomPredicate<SystemRandomNumberGenerator>.strings
        let doubles = RandomPredicate<SystemRandomNumberGenerator>.doubles.dropLast()
        let bools: [Value] = [.null, true, false]
        let objects = (0..<40).map { PredicateEvaluator.Object("i\($0)") }
        for object in objects {
            object.values["n"] = integers.randomElement(using: &generator)
            object.values["s"] = strings.randomElement(using: &generator)
            object.values["d"] = doubles.randomElement(using: &generator)
            object.values["b"] = bools.randomElement(using: &generator)
            object.toMany["children"] = []
            object.toMany["friends"] = []
            object.toMany["friendOf"] = []
        }
        for object in objects {
            if Int.random(in: 0..<3, using: &generator) > 0,
                let parent = objects.randomElement(using: &generator)
            {
                object.toOne["parent"] = parent
                parent.toMany["children"]?.append(object)
            }
            for friend in objects where Int.random(in: 0..<20, using: &generator) == 0 {
                object.toMany["friends"]?.append(friend)
                friend.toMany["friendOf"]?.append(object)
            }
        }
        try fixture.insert(
            objects.map { object in
                var values = object.values.mapValues(\.jsonValue)
                values["parent"] = object.toOne["parent"].map { .string("@\($0.name)") } ?? .null
                values["friends"] = .array(
                    (object.toMany["friends"] ?? []).map { .string("@\($0.name)") })
                return QueryFixture.Object(entityName: "Item", name: object.name, values: values)
            })
        return objects
    }
}
