import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@Suite("Schemas from code")
struct SchemaCheckTests {
    func problems(_ attributes: Attribute...) -> [String] {
        do throws(SchemaError) {
            _ = try Schema(entities: [Entity(name: "A", attributes: attributes)])
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test("defaults and bounds of a schema from code are converted to the attribute's exact type")
    func typedDefaults() {
        let attribute = Attribute(
            name: "x", type: .double, defaultValue: 0,
            validation: Attribute.Validation(minimum: -1, maximum: 1))
        #expect(attribute.defaultValue == .double(0))
        #expect(attribute.validation.minimum == .double(-1))
        #expect(attribute.validation.maximum == .double(1))
        #expect(Attribute(name: "x", type: .int16, defaultValue: .null).defaultValue == nil)
        #expect(problems(attribute) == [])
    }

    @Test("a schema without entities is rejected")
    func noEntities() {
        let error = #expect(throws: SchemaError.self) { try Schema(entities: []) }
        #expect(error?.problems.map(\.description) == ["entities: must not be empty"])
    }

    @Test("the error of a schema lists at most 100 problems, and the number of the others")
    func problemLimit() {
        for (count, lines) in [(100, 100), (101, 101), (300_000, 101)] {
            let problem = SchemaError.Problem(path: "x", message: "is wrong")
            let error = SchemaError(problems: Array(repeating: problem, count: count)).larderError
            #expect(error.message == "the schema has \(count) errors")
            #expect(error.problems.count == lines)
            let last = count > 100 ? "and \(count - 100) more" : "x: is wrong"
            #expect(error.problems.last == last)
        }
    }

    @Test("a default that is not a value of its attribute's type is rejected")
    func wrongDefaults() {
        let path = "entities[0].attributes[0].default: "
        #expect(
            problems(Attribute(name: "x", type: .int16, defaultValue: 40_000))
                == [path + "expected a whole number from -32768 to 32767"])
        for value: Value in [.string("1"), .double(1.5), .double(.nan), .objects([])] {
            let attribute = Attribute(name: "x", type: .int64, defaultValue: value)
            #expect(problems(attribute).count == 1, "\(value)")
        }
        #expect(
            problems(Attribute(name: "x", type: .double, defaultValue: .double(.nan))).count == 1)
    }

    @Test("duplicate names of properties are reported even before a schema is created")
    func doubledNames() {
        let found = problems(
            Attribute(name: "x", type: .bool), Attribute(name: "x", type: .int16),
            Attribute(name: "X", type: .bool))
        #expect(
            found == [
                "entities[0].attributes[1].name: duplicate property `x`",
                "entities[0].attributes[2].name: differs from property `x` only in case",
            ])
    }

    @Test("the error of a schema says whether there is one problem or several")
    func sentences() {
        let problem = SchemaError.Problem(path: "version", message: "is missing")
        #expect(SchemaError(problems: [problem]).larderError.message == "the schema has an error")
        let error = SchemaError(problems: [problem, problem]).larderError
        #expect(error.message == "the schema has 2 errors")
        #expect(error.problems == ["version: is missing", "version: is missing"])
    }
}
