import LarderModel
import LarderQuery
import Testing

@Suite("Entities that inherit")
struct InheritanceTests {
    private static func schema(
        parent: String? = "Person", isAbstract: Bool = true
    ) throws -> Schema {
        try Schema(entities: [
            Entity(
                name: "Tutor", attributes: [Attribute(name: "wage", type: .decimal)],
                indexes: [["number", "wage"]], parent: "Student"),
            Entity(
                name: "Student",
                attributes: [Attribute(name: "number", type: .int64, unique: .exact)],
                parent: parent),
            Entity(
                name: "Person",
                attributes: [Attribute(name: "name", type: .string, indexed: .exact)],
                relationships: [Relationship(name: "mentor", destination: "Person")],
                isAbstract: isAbstract),
            Entity(name: "Teacher", attributes: [], parent: "Person"),
            Entity(name: "School", attributes: []),
        ])
    }

    @Test("an entity inherits the properties of all ancestors, which precede its own")
    func properties() throws {
        let schema = try Self.schema()
        let tutor = try #require(schema.entity(named: "Tutor"))
        #expect(tutor.attributes.map(\.name) == ["name", "number", "wage"])
        #expect(tutor.relationships.map(\.name) == ["mentor"])
        #expect(tutor.uniquenessConstraints == [["number"]])
        #expect(tutor.indexes == [["name"], ["number", "wage"]])
        #expect(tutor.declared.attributes.map(\.name) == ["wage"])
        #expect(tutor.declared.indexes == [["number", "wage"]])
        #expect(schema.declaringEntity(of: "number", in: tutor).name == "Student")
        #expect(schema.lineage(of: tutor).map(\.name) == ["Person", "Student", "Tutor"])
    }

    @Test("an entity of a schema has its ancestors and subentities")
    func relatives() throws {
        let schema = try Self.schema()
        let tutor = try #require(schema.entity(named: "Tutor"))
        #expect(schema.root(of: tutor).name == "Person")
        #expect(schema.subentities(of: "Person").map(\.name) == ["Tutor", "Student", "Teacher"])
        #expect(schema.subentities(of: "Tutor").isEmpty)
        #expect(schema.isKind("Tutor", of: "Person") && schema.isKind("Tutor", of: "Tutor"))
        #expect(!schema.isKind("Person", of: "Tutor") && !schema.isKind("Teacher", of: "Student"))
        #expect(schema.areRelated("Person", "Tutor") && !schema.areRelated("Tutor", "Teacher"))
    }

    @Test("a schema with inheritance is written as declared, and read back")
    func text() throws {
        let schema = try Self.schema()
        let again = try SchemaFile.schema(parsing: schema.canonicalText)
        #expect(again == schema && again.canonicalText == schema.canonicalText)
        #expect(try Schema(entities: schema.entities) == schema)
    }

    @Test("schemas with another parent or abstract entity differ, also in their fingerprints")
    func difference() throws {
        let (schema, other) = (try Self.schema(), try Self.schema(parent: nil, isAbstract: false))
        #expect(
            SchemaDifference.differences(from: schema, to: other).map(\.description) == [
                "Student: parent is Person in the store, none in the file",
                "Person: abstract is true in the store, false in the file",
            ])
        let fingerprints = [
            schema, other, try Self.schema(parent: nil), try Self.schema(isAbstract: false),
        ].map(\.fingerprint)
        #expect(Set(fingerprints).count == 4)
    }

    @Test("an entity can have 32 ancestors, and no more")
    func depth() throws {
        func chain(_ count: Int) -> [Entity] {
            (0..<count).map { place in
                Entity(
                    name: "E\(place)", attributes: [], parent: place == 0 ? nil : "E\(place - 1)")
            }
        }
        let deepest = Limits.ancestorsMax + 1
        _ = try Schema(entities: chain(deepest))
        for count in [deepest + 1, Limits.entitiesMax] {
            let error = #expect(throws: SchemaError.self) { try Schema(entities: chain(count)) }
            #expect(
                error?.problems.map(\.description)
                    == ["entities[\(deepest)].parent: has more than 32 ancestors"])
        }
        var circle = chain(Limits.entitiesMax)
        circle[0] = Entity(name: "E0", attributes: [], parent: "E\(Limits.entitiesMax - 1)")
        let error = #expect(throws: SchemaError.self) { try Schema(entities: circle) }
        #expect(error?.problems.count == Limits.entitiesMax)
    }

    @Test("inherited properties are limited per entity and in total")
    func inheritedProperties() throws {
        func tree(_ properties: Int, heirs: Int) -> [Entity] {
            let attributes = (0..<properties).map { Attribute(name: "a\($0)", type: .bool) }
            return [Entity(name: "Root", attributes: attributes)]
                + (0..<heirs).map {
                    Entity(
                        name: "E\($0)", attributes: [Attribute(name: "own", type: .bool)],
                        parent: "Root")
                }
        }
        _ = try Schema(entities: tree(500, heirs: 200))
        let many = #expect(throws: SchemaError.self) { try Schema(entities: tree(500, heirs: 201)) }
        #expect(
            many?.problems.map(\.description)
                == ["entities: inherit more than 100000 properties in all"])
        let wide = #expect(throws: SchemaError.self) { try Schema(entities: tree(1_000, heirs: 1)) }
        #expect(
            wide?.problems.map(\.description)
                == ["entities[1]: has more than 1000 properties, including inherited ones"])
    }
}
