import FoundationEssentials
import LarderModel
import Testing

@Suite("Schemas from code")
struct SchemaCheckTests {
    func faults(_ attributes: Attribute...) -> [String] {
        do throws(SchemaError) {
            _ = try Schema(entities: [Entity(name: "A", attributes: attributes)])
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }

    @Test("defaults and bounds take the attribute's type where nothing is lost")
    func typedDefaults() {
        let attribute = Attribute(
            name: "x", type: .double, defaultValue: 0,
            validation: Attribute.Validation(minimum: -1, maximum: 1))
        #expect(attribute.defaultValue == .double(0))
        #expect(attribute.validation.minimum == .double(-1))
        #expect(attribute.validation.maximum == .double(1))
        #expect(Attribute(name: "x", type: .int16, defaultValue: .null).defaultValue == nil)
        #expect(faults(attribute) == [])
    }

    @Test("a default that is no value of the type is refused")
    func wrongDefaults() {
        let path = "entities[0].attributes[0].default: "
        #expect(
            faults(Attribute(name: "x", type: .int16, defaultValue: 40_000))
                == [path + "expected a whole number from -32768 to 32767"])
        for value: Value in [.string("1"), .double(1.5), .double(.nan), .objects([])] {
            let attribute = Attribute(name: "x", type: .int64, defaultValue: value)
            #expect(faults(attribute).count == 1, "\(value)")
        }
        #expect(faults(Attribute(name: "x", type: .double, defaultValue: .double(.nan))).count == 1)
    }

    @Test("doubled names are a fault even before a schema is made of them")
    func doubledNames() {
        let found = faults(
            Attribute(name: "x", type: .bool), Attribute(name: "x", type: .int16),
            Attribute(name: "X", type: .bool))
        #expect(
            found == [
                "entities[0].attributes[1].name: there is property `x` already",
                "entities[0].attributes[2].name: differs from property `x` by case alone",
            ])
    }

    @Test("one fault and several have their sentence")
    func sentences() {
        let fault = SchemaError.Fault(path: "version", message: "is missing")
        #expect(SchemaError(faults: [fault]).larderError.message == "the schema has a fault")
        let error = SchemaError(faults: [fault, fault]).larderError
        #expect(error.message == "the schema has 2 faults")
        #expect(error.faults == ["version: is missing", "version: is missing"])
    }
}
