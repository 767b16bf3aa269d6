import Foundation
import SwiftData
import Testing

@Suite("A program that makes tables of a schema")
struct SchemaTableTests {
    private let schema = Schema([Garage.Taxi.self], version: Schema.Version(2, 0, 0))

    /// A property per line, as a program reads it.
    private func table(_ properties: [any SchemaProperty]) -> [String] {
        properties.map { property in
            var line = "\(property.name): \(property.valueType)"
            if property.originalName != property.name { line += " from \(property.originalName)" }
            if property.isOptional { line += ", optional" }
            if property.isUnique { line += ", unique" }
            if property.isTransient { line += ", transient" }
            if let relationship = property as? Schema.Relationship {
                line += relationship.isToOneRelationship ? ", to one " : ", to many "
                line += relationship.destination
                line += relationship.inverseName.map { " inverse \($0)" } ?? ""
                line += " \(relationship.deleteRule)"
            }
            if let attribute = property as? Schema.Attribute {
                if attribute.isTransformable { line += ", transformable" }
                if let value = attribute.defaultValue { line += " = \(value)" }
            }
            if let composite = property as? Schema.CompositeAttribute {
                line += " (\(table(composite.properties).joined(separator: "; ")))"
            }
            #expect(property.isAttribute != property.isRelationship)
            return line
        }
    }

    private static let vehicle = [
        "plate: String, unique",
        "seats: Int from places = 4",
        "maker: Optional<Maker>, optional, to one Maker inverse vehicles nullify",
    ]
    private static let car = [
        "engine: Engine (power: Int; fuel: Fuel; code: PartCode; tank: Optional<Tank>, optional "
            + "(litres: Double))",
        "size: Pair<Double> = Pair<Double>(first: 4.0, second: 1.8) "
            + "(first: Double; second: Double)",
        "chassis: PartCode, unique",
        "spares: Array<PartCode> = []",
        "state: Optional<Fuel>, optional",
        "speed: Double, transient = 0.0",
        "trailers: Array<Vehicle>, to many Vehicle cascade",
    ]
    private static let taxi = ["number: Int16 = 1"]

    @Test(
        "an entity has the inherited properties and then its own, in all lists",
        arguments: [
            ("Vehicle", [], vehicle), ("Car", vehicle, car), ("Taxi", vehicle + car, taxi),
        ])
    func tables(name: String, inherited: [String], own: [String]) throws {
        for schema in [schema, try decoded()] {
            let entity = try #require(schema.entitiesByName[name])
            let all = inherited + own
            #expect(table(entity.properties) == all)
            #expect(table(entity.storedProperties) == all)
            #expect(table(entity.inheritedProperties) == inherited)
            let names = entity.properties.map(\.name)
            #expect(Set(entity.storedPropertiesByName.keys) == Set(names))
            #expect(table(names.compactMap { entity.storedPropertiesByName[$0] }) == all)
            #expect(
                Set(entity.inheritedPropertiesByName.keys)
                    == Set(entity.inheritedProperties.map(\.name)))
            #expect(
                Set(entity.attributes.map(\.name) + entity.relationships.map(\.name))
                    == Set(names))
            #expect(
                Set(entity.attributesByName.keys).union(entity.relationshipsByName.keys)
                    == Set(names))
            #expect(entity.attributes.count == entity.attributesByName.count)
            #expect(entity.relationships.count == entity.relationshipsByName.count)
        }
    }

    private func decoded() throws -> Schema {
        try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(schema))
    }

    @Test(
        "superentities and subentities lead through a hierarchy, and constraints are a class's own")
    func hierarchy() throws {
        for schema in [schema, try decoded()] {
            let taxi = try #require(schema.entitiesByName["Taxi"])
            let car = try #require(taxi.superentity)
            #expect(car === schema.entitiesByName["Car"])
            #expect(taxi.superentityName == "Car")
            #expect(car.superentity === schema.entitiesByName["Vehicle"])
            #expect(car.superentity?.superentity == nil)
            #expect(car.superentity?.superentityName == nil)
            #expect(car.superentity?.subentities == [car])
            #expect(car.subentities == [taxi])
            #expect(taxi.subentities.isEmpty)
            #expect(car.superentity?.uniquenessConstraints == [["plate"]])
            #expect(car.uniquenessConstraints == [["chassis"]])
            #expect(taxi.uniquenessConstraints == [["seats", "number"]])
            #expect(taxi.indices == [["number"]])
            #expect(car.indices.isEmpty)
            #expect(schema.version == Schema.Version(2, 0, 0))
        }
        #expect(schema.entity(for: Garage.Taxi.self) === schema.entitiesByName["Taxi"])
    }

    @Test("a schema in JSON has the properties of each class once, by their kinds")
    func json() throws {
        let data = try JSONEncoder().encode(schema)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object.keys.sorted() == ["encodingVersion", "entities", "version"])
        let entities = try #require(object["entities"] as? [[String: Any]])
        #expect(
            entities.compactMap { $0["name"] as? String } == ["Car", "Maker", "Taxi", "Vehicle"])
        let taxi = try #require(entities.first { $0["name"] as? String == "Taxi" })
        #expect(
            taxi.keys.sorted() == [
                "indices", "inheritedProperties", "mangledName", "name", "properties",
                "superentityName", "uniquenessConstraints",
            ])
        let own = try #require(taxi["properties"] as? [[String: [String: Any]]])
        #expect(own.map { $0["attribute"]?["name"] as? String } == ["number"])
        let inherited = try #require(taxi["inheritedProperties"] as? [[String: [String: Any]]])
        #expect(
            inherited.flatMap(\.keys) == [
                "attribute", "attribute", "relationship", "composite", "composite", "attribute",
                "attribute",
                "attribute", "attribute", "relationship",
            ])
        let maker = try #require(inherited[2]["relationship"])
        #expect(maker["destination"] as? String == "Maker")
        #expect(maker["inverseName"] as? String == "vehicles")
        #expect(maker["deleteRule"] as? String == "nullify")
        let engine = try #require(inherited[3]["composite"])
        #expect((engine["properties"] as? [[String: Any]])?.count == 4)
        #expect(engine["valueType"] is String)
        #expect(engine["valueTypeName"] as? String == "SwiftDataTests.Garage.Engine")
    }

    @Test("a decoded property whose type the program lacks is optional and to one as it was")
    func unknownTypes() throws {
        let text = String(decoding: try JSONEncoder().encode(schema), as: UTF8.self)
        let unknown = text.replacing(/"valueType":"[^"]*"/, with: #""valueType":"$unknown""#)
        let decoded = try JSONDecoder().decode(Schema.self, from: Data(unknown.utf8))
        for (name, entity) in decoded.entitiesByName {
            let original = try #require(schema.entitiesByName[name])
            for (property, known) in zip(entity.properties, original.properties) {
                #expect(property.name == known.name)
                #expect(property.isOptional == known.isOptional)
                #expect(property.isRelationship == known.isRelationship)
                let isToOne = (property as? Schema.Relationship)?.isToOneRelationship
                #expect(isToOne == (known as? Schema.Relationship)?.isToOneRelationship)
            }
        }
    }

    @Test("the subentities of an entity that is made by hand inherit its properties")
    func byHand() {
        func attribute(_ name: String) -> Schema.Attribute {
            Schema.Attribute(name: name, valueType: Int.self)
        }
        let lowest = Schema.Entity("C", properties: attribute("c"))
        let middle = Schema.Entity("B", subentities: lowest, properties: attribute("b"))
        let top = Schema.Entity("A", subentities: middle, properties: attribute("a"))
        #expect(top.storedProperties.map(\.name) == ["a"])
        #expect(middle.storedProperties.map(\.name) == ["a", "b"])
        #expect(lowest.storedProperties.map(\.name) == ["a", "b", "c"])
        #expect(lowest.inheritedProperties.map(\.name) == ["a", "b"])
        lowest.storedProperties.append(attribute("d"))
        #expect(lowest.properties.map(\.name) == ["a", "b", "c", "d"])
        #expect(lowest.inheritedProperties.map(\.name) == ["a", "b"])
        lowest.storedProperties = [attribute("b"), attribute("e")]
        #expect(lowest.properties.map(\.name) == ["b", "e"])
    }
}

enum Garage {
    enum Fuel: String, Codable { case petrol, power }

    /// A structure that is stored as its raw value.
    struct PartCode: RawRepresentable, Codable, Hashable {
        var rawValue: String
    }

    struct Tank: Codable { var litres: Double }

    /// A generic structure.
    struct Pair<Number: Codable>: Codable {
        var first: Number
        var second: Number
    }

    struct Engine: Codable {
        var power: Int
        var fuel: Fuel
        var code: PartCode
        var tank: Tank?
    }

    @Model final class Maker {
        var vehicles: [Vehicle] = []

        init() {}
    }

    @Model class Vehicle {
        @Attribute(.unique) var plate: String
        @Attribute(originalName: "places") var seats = 4
        @Relationship(inverse: \Maker.vehicles) var maker: Maker?

        init(plate: String) { self.plate = plate }
    }

    @Model class Car: Vehicle {
        var engine: Engine
        var size = Pair(first: 4.0, second: 1.8)
        @Attribute(.unique) var chassis: PartCode
        var spares: [PartCode] = []
        var state: Fuel?
        @Attribute(.ephemeral) var speed = 0.0
        @Relationship(deleteRule: .cascade) var trailers: [Vehicle] = []

        init(engine: Engine) {
            self.engine = engine
            chassis = PartCode(rawValue: "c")
            super.init(plate: "p")
        }
    }

    @Model final class Taxi: Car {
        #Unique<Taxi>([\.seats, \.number])
        #Index<Taxi>([\.number])
        var number: Int16 = 1

        override init(engine: Engine) { super.init(engine: engine) }
    }
}
