import LarderModel
import Testing

@testable import LarderStore

@Suite("objects of entities that inherit, changed by edits, bulk changes and streams")
struct InheritedBulkTests {
    private let library: Library

    init() throws { library = try Library(schema: Faculty.schema()) }

    @Test("a stream inserts objects of a subentity with keys of their table")
    func streams() throws {
        let tutor = try library.insert("Tutor", ["name": "Cyd"])
        let rows = try library.batch(
            "Student", ["name", "mentor", "tutor"],
            [["Ann", .object(tutor), .object(tutor)], ["Bob", .null, .null]])
        let inserted = try library.inserted(Insertion("Student", wantsIdentifiers: true), [rows])
        #expect(inserted.keys == [KeyRange(first: 2, count: 2)])
        #expect(
            try library.rows("SELECT _entity, mentor FROM Member ORDER BY _id") == [
                [.text("Tutor"), .null], [.text("Student"), .integer(1)],
                [.text("Student"), .null],
            ])
        #expect(try library.insert("Teacher", ["name": "Eve"]).permanentKey == 4)
        let other = library.identifier("Student", 1)
        let wrong = try library.refusal(
            Insertion("Teacher"), firstRow: 0,
            [library.batch("Teacher", ["name", "mentor"], [["Dan", .object(other)]])])
        #expect(wrong.code == .objectNotFound)
        let abstract = try library.refusal(
            Insertion("Member"), firstRow: 0, [library.batch("Member", ["name"], [["Dan"]])])
        #expect(abstract.details.map(\.rule) == [.abstract])
    }

    @Test("objects of subentities are edited in lists only by their own identifiers")
    func edits() throws {
        let school = try library.insert("School")
        let made = try ["Tutor", "Student", "Teacher"].map {
            try library.insert($0, ["name": .string($0)])
        }
        func edit(_ edit: RelationshipEdit) -> Change {
            .update(school, ifVersion: nil, values: [:], edits: [edit])
        }
        try library.saved(edit(.add(made, to: "members")))
        let asMember = library.identifier("Member", 2)
        for wrong in [
            RelationshipEdit.add([asMember], to: "members"),
            .move([asMember], in: "members", to: .first),
            .move([made[0]], in: "members", to: .after(asMember)),
        ] {
            #expect(try library.refusal(edit(wrong)).code == .objectNotFound)
        }
        // It is not in the list under another entity's name.
        try library.saved(edit(.remove([asMember], from: "members")))
        try library.saved(edit(.move([made[1]], in: "members", to: .before(made[0]))))
        #expect(
            try library.keys(school, "members") == library.keys([made[1], made[0], made[2]]))
        try library.saved(edit(.remove([made[0]], from: "members")))
        #expect(try library.keys(school, "members") == library.keys([made[1], made[2]]))
    }

    @Test("objects of subentities are changed and deleted in bulk, each under its own entity")
    func predicates() throws {
        let teacher = try library.insert("Teacher", ["name": "Bob"])
        let others = try [("Tutor", "Cyd"), ("Student", "Ann"), ("Student", "Dan")].map {
            try library.insert($0, ["name": .string($1), "mentor": .object(teacher)])
        }
        let named = try library.saved(
            .updateAll(
                ObjectSelection(
                    "Member", where: .format("SELF IS Student"), wantsIdentifiers: true),
                set: [
                    PropertyAssignment("name", .format("uppercase(name)")),
                    PropertyAssignment("mentor", .format("mentor.mentor")),
                ]))
        #expect(named.affected.first?.identifiers == others)
        #expect(try library.value(others[0], "name") == .text("CYD"))
        #expect(try library.value(others[1], "mentor") == .null)
        #expect(try library.value(teacher, "name") == .text("Bob"))
        let history = try library.history(try #require(named.transaction))
        #expect(
            history.map(\.description) == [
                "updated Student 3-4 mentor,name", "updated Tutor 2 mentor,name",
            ])
        // Ann and Dan are Students, Cyd is of a subentity.
        let own = ObjectSelection("Student", wantsIdentifiers: true, includesSubentities: false)
        let renamed = try library.saved(
            .updateAll(own, set: [PropertyAssignment("name", .format("uppercase(name)"))]))
        #expect(renamed.affected.first?.identifiers == Array(others.dropFirst()))
        // A Tutor's own constraint applies, whatever entity is updated.
        try library.insert("Tutor", ["name": "Eve"])
        let twins = try library.refusal(
            .updateAll(ObjectSelection("Member"), set: [PropertyAssignment("name", to: "x")]))
        #expect(twins.code == .uniquenessViolated)
        let deleted = try library.saved(
            .deleteAll(ObjectSelection("Student", where: .format("name != \"ANN\""))))
        #expect(deleted.affected.first?.count == 3)
        #expect(
            try library.rows("SELECT name FROM Member ORDER BY _id") == [
                [.text("Bob")], [.text("ANN")],
            ])
    }
}
