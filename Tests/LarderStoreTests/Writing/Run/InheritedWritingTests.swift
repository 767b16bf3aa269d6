import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("objects of entities that inherit")
struct InheritedWritingTests {
    private let library: Library

    init() throws { library = try Library(schema: Faculty.schema()) }

    private func identifier(_ entityName: String, like object: PersistentIdentifier) throws
        -> PersistentIdentifier
    {
        library.identifier(entityName, try #require(object.permanentKey))
    }

    private func upsert(_ changes: Change...) -> Result<SaveResult, LarderError> {
        library.writer.save([ChangeSet(changes, onUniqueConflict: .upsert)])[0]
    }

    private func history(_ result: SaveResult) throws -> [String] {
        try library.history(try #require(result.transaction)).map(\.description)
    }

    // MARK: Rows

    @Test("objects of subentities share a table and its keys, with the names of their entities")
    func rows() throws {
        let student = try library.insert("Student", ["name": "Ann", "number": 7])
        let teacher = try library.insert("Teacher", ["name": "Bob", "number": "B7"])
        let tutor = try library.insert("Tutor", ["name": "Cyd", "number": 8, "wage": 12])
        #expect(library.keys([student, teacher, tutor]) == [1, 2, 3])
        #expect([student, teacher, tutor].map(\.entityName) == ["Student", "Teacher", "Tutor"])
        #expect(
            try library.rows(
                """
                SELECT _entity, name, "Student.number", "Student.grade", "Tutor.wage", \
                "Teacher.number" FROM Member ORDER BY _id
                """) == [
                    [.text("Student"), .text("Ann"), .integer(7), .real(2), .null, .null],
                    [.text("Teacher"), .text("Bob"), .null, .null, .null, .text("B7")],
                    [.text("Tutor"), .text("Cyd"), .integer(8), .real(2), .text("12"), .null],
                ])
    }

    @Test("objects of subentities are checked by the rules of all ancestors")
    func validation() throws {
        let error = try library.refusal(
            .insert(.new("a", "Tutor"), values: ["name": "much too long", "number": "seven"]))
        #expect(error.details.map(\.rule) == [.maxLength, .type])
        #expect(error.details.map(\.entityName) == ["Tutor", "Tutor"])
        let missing = try library.refusal(.insert(.new("a", "Teacher"), values: [:]))
        #expect(missing.details.map(\.propertyNames) == [["name"]])
        let foreign = try library.refusal(
            .insert(.new("a", "Teacher"), values: ["name": "Ann", "grade": 1]))
        #expect(foreign.code == .unknownProperty)
    }

    @Test("an object cannot belong to an abstract entity")
    func abstract() throws {
        let error = try library.refusal(.insert(.new("a", "Member"), values: ["name": "Ann"]))
        #expect(error.code == .invalidChangeSet)
        #expect(error.message == "Member is abstract and has no objects of its own")
        #expect(error.details.map(\.rule) == [.abstract])
        #expect(error.details.map(\.entityName) == ["Member"])
    }

    // MARK: Identifiers

    @Test("an object is updated and deleted only under the name of its own entity")
    func wrongEntity() throws {
        let student = try library.insert("Student", ["name": "Ann"])
        for name in ["Member", "Tutor", "Teacher"] {
            let other = try identifier(name, like: student)
            let update = try library.refusal(
                .update(other, ifVersion: nil, values: ["name": "Bob"]))
            #expect(update.code == .objectNotFound && update.uri == other.uriRepresentation)
            let delete = try library.refusal(.delete(other, ifVersion: nil))
            #expect(delete.code == .objectNotFound)
            let conflict = try library.refusal(.update(other, ifVersion: 1, values: ["name": "B"]))
            #expect(conflict.code == .objectNotFound)
        }
        try library.saved(.update(student, ifVersion: 1, values: ["name": "Bob"]))
        try library.saved(.delete(student, ifVersion: 2))
        #expect(try library.count("Member") == 0)
    }

    @Test("an object is rejected as a destination under the name of another entity")
    func wrongTarget() throws {
        let tutor = try library.insert("Tutor", ["name": "Cyd"])
        let student = try library.insert("Student", ["name": "Ann"])
        let school = try library.insert("School")
        let course = try library.insert("Course")
        let desk = try library.insert("Desk")
        let asMember = try identifier("Member", like: student)
        let asTutor = try identifier("Tutor", like: student)
        for (object, name, value) in [
            (student, "mentor", Value.object(asMember)), (student, "friends", .objects([asTutor])),
            (student, "tutor", .object(asTutor)), (tutor, "tutored", .objects([asTutor])),
            (school, "members", .objects([asMember])), (desk, "owner", .object(asMember)),
            (course, "students", .objects([asTutor])),
        ] {
            let error = try library.refusal(
                .update(object, ifVersion: nil, values: [name: value]))
            #expect(error.code == .objectNotFound, "\(name)")
        }
        for (object, name, value) in [
            (student, "tutor", Value.object(student)), (course, "students", .objects([asMember])),
            (course, "teacher", .object(student)), (school, "head", .object(tutor)),
        ] {
            let error = try library.refusal(
                .update(object, ifVersion: nil, values: [name: value]))
            #expect(error.code == .wrongType, "\(name)")
        }
    }

    // MARK: Links

    @Test("objects of subentities are linked as objects of their ancestors, from both sides")
    func links() throws {
        let result = try library.saved(
            .insert(
                .new("s", "School"),
                values: [
                    "members": .objects([.new("t", "Member"), .new("a", "Student")]),
                    "head": .object(.new("b", "Teacher")),
                ]),
            .insert(
                .new("a", "Student"),
                values: [
                    "name": "Ann", "tutor": .object(.new("t", "Tutor")),
                    "mentor": .object(.new("b", "Member")),
                    "friends": .objects([.new("b", "Teacher"), .new("t", "Tutor")]),
                ]),
            .insert(
                .new("t", "Tutor"), values: ["name": "Cyd", "desk": .object(.new("d", "Desk"))]),
            .insert(.new("b", "Teacher"), values: ["name": "Bob"]),
            .insert(.new("d", "Desk"), values: [:]))
        let made = result.inserted
        #expect(made.map(\.entityName) == ["School", "Student", "Tutor", "Teacher", "Desk"])
        #expect(try library.keys(made[0], "members") == library.keys([made[2], made[1]]))
        #expect(try library.keys(made[0], "head") == library.keys([made[3]]))
        #expect(try library.keys(made[1], "mentor") == library.keys([made[3]]))
        #expect(try library.keys(made[3], "friends") == library.keys([made[1]]))
        #expect(try library.keys(made[2], "tutored") == library.keys([made[1]]))
        #expect(try library.keys(made[4], "owner") == library.keys([made[2]]))
        #expect(
            try history(result) == [
                "inserted Student 1", "inserted Tutor 2", "inserted Teacher 3",
                "inserted School 1", "inserted Desk 1",
            ])
        let moved = try library.saved(
            .update(made[4], ifVersion: nil, values: ["owner": .object(made[3])]))
        #expect(
            try history(moved) == [
                "updated Tutor 2 desk", "updated Teacher 3 desk", "updated Desk 1 owner",
            ])
    }

    @Test("objects of subentities count in lists under the rules of the declaring entity")
    func counts() throws {
        let courses = try (0..<3).map { _ in try library.insert("Course") }
        let tutor = try library.insert(
            "Tutor", ["name": "Cyd", "courses": .objects([courses[0], courses[1]])])
        let error = try library.refusal(
            .update(courses[2], ifVersion: nil, values: ["students": .objects([tutor])]))
        #expect(error.details.map(\.rule) == [.maxCount])
        #expect(error.uri == tutor.uriRepresentation)
    }

    @Test("objects of subentities are affected by delete rules of their ancestors' relationships")
    func deletes() throws {
        let school = try library.insert("School")
        let desk = try library.insert("Desk")
        let tutor = try library.insert(
            "Tutor", ["name": "Cyd", "school": .object(school), "desk": .object(desk)])
        let teacher = try library.insert("Teacher", ["name": "Bob", "mentor": .object(tutor)])
        let student = try library.insert(
            "Student", ["name": "Ann", "number": 5, "grade": 1, "tutor": .object(tutor)])
        let denied = try library.refusal(.delete(school, ifVersion: nil))
        #expect(denied.code == .deleteDenied && denied.uri == student.uriRepresentation)
        let result = try library.saved(
            .delete(school, ifVersion: nil), .delete(student, ifVersion: nil))
        #expect(result.deletedCount == 4)
        #expect(try library.keys(teacher, "mentor") == [])
        #expect(
            try history(result) == [
                "updated Teacher 2 mentor", "deleted Student 3", "deleted Tutor 1",
                "deleted School 1", "deleted Desk 1",
            ])
        #expect(
            try library.rows("SELECT entity, key, property, value FROM _preserved") == [
                [.text("Student"), .integer(3), .text("grade"), .real(1)],
                [.text("Tutor"), .integer(1), .text("grade"), .real(2)],
            ])
    }

    @Test("an object of a subentity that is deleted is not updated by the objects that it deletes")
    func cascade() throws {
        let notes = Relationship(
            name: "notes", destination: "Note", isToMany: true, inverse: "page",
            deleteRule: .cascade)
        let page = Relationship(name: "page", destination: "Page", inverse: "notes")
        let library = try Library(
            schema: Schema(entities: [
                Entity(name: "Page", attributes: [], relationships: [notes]),
                Entity(name: "Cover", attributes: [], parent: "Page"),
                Entity(name: "Note", attributes: [], relationships: [page]),
            ]))
        let cover = try library.insert("Cover")
        for _ in 0..<2 { try library.insert("Note", ["page": .object(cover)]) }
        let result = try library.saved(.delete(cover, ifVersion: nil))
        let changes = try library.history(try #require(result.transaction))
        #expect(changes.map(\.description) == ["deleted Cover 1", "deleted Note 1-2"])
    }

    @Test("objects of subentities are compared by their own identifiers in conflicts of links")
    func conflicts() throws {
        let tutor = try library.insert("Tutor", ["name": "Cyd"])
        let student = try library.insert("Student", ["name": "Ann", "mentor": .object(tutor)])
        let asMember = try identifier("Member", like: tutor)
        func update(base: PersistentIdentifier) -> Change {
            .update(
                student, ifVersion: nil, values: ["mentor": .null], base: ["mentor": .object(base)])
        }
        let error = try library.refusal(update(base: asMember))
        #expect(error.code == .versionConflict)
        #expect(
            error.details.first?.conflict?.properties.first?.stored == .object(tutor))
        try library.saved(update(base: tutor))
    }

    // MARK: Uniqueness

    @Test("objects of subentities are unique among the declaring entity and its subentities")
    func uniqueness() throws {
        let school = try library.insert("School")
        let tutor = try library.insert(
            "Tutor", ["name": "Ann", "number": 7, "email": "a@b", "school": .object(school)])
        // Member's constraints apply to all of them, Student's constraints to Tutors too.
        for (entityName, values) in [
            ("Teacher", ["name": "Bob", "email": "a@b"]),
            ("Student", ["name": "Bob", "number": 7]),
            ("Student", ["name": "Ann", "school": .object(school)]), ("Tutor", ["name": "Ann"]),
        ] as [(String, [String: Value])] {
            let error = try library.refusal(.insert(.new("a", entityName), values: values))
            #expect(error.code == .uniquenessViolated, "\(entityName) \(values.keys.sorted())")
            #expect(error.uri == tutor.uriRepresentation)
        }
        // A subentity's constraint does not apply to others.
        try library.insert("Teacher", ["name": "Ann", "number": "7", "school": .object(school)])
        try library.insert("Student", ["name": "Ann"])
        // Values are exchanged across entities within one set.
        let teacher = try library.insert("Teacher", ["name": "Bob", "email": "b@b"])
        try library.saved(
            .update(teacher, ifVersion: nil, values: ["email": "a@b"]),
            .update(tutor, ifVersion: nil, values: ["email": "b@b"]))
        #expect(try library.value(teacher, "email") == .text("a@b"))
        #expect(try library.value(tutor, "email") == .text("b@b"))
    }

    @Test("objects of subentities are updated by upserts of their own entity only")
    func upserts() throws {
        let tutor = try library.insert("Tutor", ["name": "Ann", "email": "a@b"])
        let same = try upsert(.insert(.new("a", "Tutor"), values: ["email": "a@b", "wage": 3]))
            .get()
        #expect(same.inserted == [tutor])
        #expect(try library.value(tutor, "Tutor.wage") == .text("3"))
        for entityName in ["Student", "Teacher"] {
            let outcome = upsert(
                .insert(.new("a", entityName), values: ["name": "Ann", "email": "a@b"]))
            guard case .failure(let error) = outcome else {
                Issue.record("a \(entityName) became a Tutor")
                continue
            }
            #expect(error.code == .uniquenessViolated && error.uri == tutor.uriRepresentation)
        }
        // The second of two inserts matches the first one, also if the value is deferred.
        let outcome = upsert(
            .insert(.new("a", "Student"), values: ["name": "Bob", "email": "n@b"]),
            .insert(.new("b", "Teacher"), values: ["name": "Bob", "email": "n@b"]))
        guard case .failure(let error) = outcome else {
            Issue.record("a Teacher became a Student")
            return
        }
        #expect(error.code == .uniquenessViolated)
    }
}
