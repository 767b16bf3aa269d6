import LarderModel

/// A schema with a tree of entities, for tests of inheritance.
package enum Faculty {
    package static func schema() throws -> Schema { try Schema(entities: members + others) }

    private static let members: [Entity] = [
        Entity(
            name: "Member",
            attributes: [
                Attribute(
                    name: "name", type: .string, indexed: .exact, validation: .init(maxLength: 9)),
                Attribute(name: "email", type: .string, isOptional: true, unique: .exact),
            ],
            relationships: [
                Relationship(name: "school", destination: "School", inverse: "members"),
                Relationship(name: "mentor", destination: "Member"),
                Relationship(
                    name: "friends", destination: "Member", isToMany: true, isOrdered: true,
                    inverse: "friends"),
                Relationship(
                    name: "desk", destination: "Desk", inverse: "owner", deleteRule: .cascade),
            ], isAbstract: true),
        Entity(
            name: "Student",
            attributes: [
                Attribute(name: "number", type: .int64, isOptional: true, unique: .exact),
                Attribute(
                    name: "grade", type: .double, isOptional: true, defaultValue: .double(2),
                    preservesValueOnDeletion: true),
            ],
            relationships: [
                Relationship(
                    name: "courses", destination: "Course", isToMany: true, isOrdered: true,
                    inverse: "students", maxCount: 2),
                Relationship(name: "tutor", destination: "Tutor", inverse: "tutored"),
            ],
            uniquenessConstraints: [["name", "school"]], parent: "Member"),
        Entity(
            name: "Tutor", attributes: [Attribute(name: "wage", type: .decimal, isOptional: true)],
            relationships: [
                Relationship(
                    name: "tutored", destination: "Student", isToMany: true, isOrdered: true,
                    inverse: "tutor", deleteRule: .deny)
            ],
            uniquenessConstraints: [["name"]], parent: "Student"),
        Entity(
            name: "Teacher",
            attributes: [Attribute(name: "number", type: .string, isOptional: true)],
            relationships: [
                Relationship(
                    name: "courses", destination: "Course", isToMany: true, inverse: "teacher")
            ], parent: "Member"),
    ]

    private static let others: [Entity] = [
        Entity(
            name: "School", attributes: [Attribute(name: "title", type: .string, isOptional: true)],
            relationships: [
                Relationship(
                    name: "members", destination: "Member", isToMany: true, isOrdered: true,
                    inverse: "school", deleteRule: .cascade),
                Relationship(name: "head", destination: "Teacher"),
            ]),
        Entity(
            name: "Course", attributes: [],
            relationships: [
                Relationship(
                    name: "students", destination: "Student", isToMany: true, inverse: "courses"),
                Relationship(name: "teacher", destination: "Teacher", inverse: "courses"),
            ]),
        Entity(
            name: "Desk", attributes: [],
            relationships: [Relationship(name: "owner", destination: "Member", inverse: "desk")]),
    ]
}
