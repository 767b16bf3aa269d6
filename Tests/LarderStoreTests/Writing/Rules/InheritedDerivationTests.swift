import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("derived attributes of entities that inherit")
struct InheritedDerivationTests {
    private let library: Library

    init() throws {
        func derived(_ name: String, _ type: AttributeType, _ text: String) -> Attribute {
            Attribute(name: name, type: type, isOptional: true, derivation: text)
        }
        let schema = try Schema(entities: [
            Entity(
                name: "School",
                attributes: [
                    derived("size", .int64, "members.@count"),
                    derived("firstName", .string, "members.@min.folded"),
                    derived("students", .int64, "SUBQUERY(members, $m, $m IS Student).@count"),
                ],
                relationships: [
                    Relationship(
                        name: "members", destination: "Member", isToMany: true, inverse: "school",
                        deleteRule: .noAction)
                ]),
            Entity(
                name: "Student",
                attributes: [
                    Attribute(name: "number", type: .int64, isOptional: true),
                    derived("doubled", .int64, "number * 2"),
                    derived("tutorNumber", .int64, "tutor.doubled"),
                ],
                relationships: [Relationship(name: "tutor", destination: "Tutor")],
                parent: "Member"),
            Entity(
                name: "Member",
                attributes: [
                    Attribute(name: "name", type: .string),
                    derived("folded", .string, "canonical(name)"),
                    derived("mentorName", .string, "mentor.folded"),
                    derived("pupilCount", .int64, "pupils.@count"),
                    derived("schoolSize", .int64, "school.size"),
                ],
                relationships: [
                    Relationship(name: "school", destination: "School", inverse: "members"),
                    Relationship(name: "mentor", destination: "Member", inverse: "pupils"),
                    Relationship(
                        name: "pupils", destination: "Member", isToMany: true, inverse: "mentor"),
                ], isAbstract: true),
            Entity(name: "Tutor", attributes: [], parent: "Student"),
            Entity(name: "Teacher", attributes: [], parent: "Member"),
        ])
        library = try Library(schema: schema)
    }

    private func value(_ object: PersistentIdentifier, _ name: String) throws -> SQLValue {
        try library.value(object, name)
    }

    private func expectSoundness() throws {
        let reader = try library.store.makeReader()
        #expect(try reader.check(budget: ReadBudget()).findings == [])
    }

    @Test("derived attributes are updated in objects of each subentity")
    func changes() throws {
        let school = try library.insert("School")
        let tutor = try library.insert(
            "Tutor", ["name": "Édith", "number": 3, "school": .object(school)])
        let teacher = try library.insert("Teacher", ["name": "Bob", "mentor": .object(tutor)])
        let student = try library.insert(
            "Student",
            [
                "name": "Ann", "mentor": .object(tutor), "tutor": .object(tutor),
                "school": .object(school),
            ])
        #expect(try value(teacher, "mentorName") == .text("edith"))
        #expect(try value(student, "mentorName") == .text("edith"))
        #expect(try value(student, "Student.tutorNumber") == .integer(6))
        #expect(try value(tutor, "pupilCount") == .integer(2))
        #expect(try value(tutor, "schoolSize") == .integer(2))
        #expect(try value(school, "firstName") == .text("ann"))
        #expect(try value(school, "students") == .integer(2))
        try library.saved(
            .update(tutor, ifVersion: nil, values: ["name": "Ada", "number": 5]),
            .update(teacher, ifVersion: nil, values: ["school": .object(school)]))
        #expect(try value(teacher, "mentorName") == .text("ada"))
        #expect(try value(student, "mentorName") == .text("ada"))
        #expect(try value(student, "Student.tutorNumber") == .integer(10))
        #expect(try value(school, "firstName") == .text("ada"))
        #expect(try value(school, "size") == .integer(3))
        #expect(try value(school, "students") == .integer(2))
        #expect(try value(teacher, "schoolSize") == .integer(3))
        try expectSoundness()
        try library.saved(.delete(tutor, ifVersion: nil))
        #expect(try value(teacher, "mentorName") == .null)
        #expect(try value(student, "Student.tutorNumber") == .null)
        #expect(try value(school, "size") == .integer(2))
        try expectSoundness()
        // The keys are left, and lead to nothing.
        try library.saved(.delete(school, ifVersion: nil))
        #expect(try value(teacher, "schoolSize") == .null)
        #expect(try value(student, "schoolSize") == .null)
        try expectSoundness()
    }

    @Test("a wrong derivation is rejected once, at the entity that declares the property")
    func errors() throws {
        let error = #expect(throws: SchemaError.self) {
            try Schema(entities: [
                Entity(name: "B", attributes: [], parent: "A"),
                Entity(
                    name: "A",
                    attributes: [
                        Attribute(name: "x", type: .int64, derivation: "y + 1"),
                        Attribute(name: "z", type: .int64, derivation: "nothing"),
                    ]),
            ])
        }
        #expect(
            error?.problems.map(\.path)
                == (0...1).map { "entities[1].attributes[\($0)].derived" })
        let circle = #expect(throws: SchemaError.self) {
            try Schema(entities: [
                Entity(name: "B", attributes: [], parent: "A"),
                Entity(
                    name: "A",
                    attributes: [
                        Attribute(name: "x", type: .int64, derivation: "as.@sum.x")
                    ],
                    relationships: [
                        Relationship(name: "as", destination: "A", isToMany: true)
                    ]),
            ])
        }
        #expect(circle?.problems.first?.path == "entities[1].attributes[0].derived")
    }
}
