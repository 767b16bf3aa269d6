import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("A check finds inconsistencies")
struct ConsistencyCheckTests {
    private let library: Library
    private let reader: any StoreReader

    init() throws {
        library = try Library()
        reader = try library.store.makeReader()
        let category = try library.insert("Category", ["name": "tech"])
        let collection = try library.insert("Collection")
        let tags = [try library.insert("Tag"), try library.insert("Tag")]
        for title in ["one", "two"] {
            try library.insert(
                "Article",
                [
                    "title": .string(title), "category": .object(category),
                    "collection": .object(collection), "tags": .objects(tags),
                ])
        }
        let people = [try library.insert("Person"), try library.insert("Person")]
        try library.saved(
            .update(people[0], ifVersion: nil, values: ["friends": .objects([people[1]])]))
    }

    private func findings() throws -> [CheckFinding] {
        try reader.check(budget: ReadBudget()).findings
    }

    @Test("a check of a consistent store has no findings")
    func sound() throws {
        #expect(try findings() == [])
    }

    /// A damage and its finding.
    struct Damage: CustomTestStringConvertible {
        let statement: SQL
        let location: String
        /// The entity and key of the inconsistent object.
        let object: (entity: String, key: Int64)
        let message: String
        var testDescription: String { message }
    }

    static let damages = [
        Damage(
            statement: "UPDATE Article SET category = 99 WHERE _id = 2",
            location: "Article.category",
            object: ("Article", 2), message: "it leads to an object that is not there"),
        Damage(
            statement: #"UPDATE Article SET "_position.collection" = NULL WHERE _id = 1"#,
            location: "Article.collection", object: ("Article", 1),
            message: "its position in an ordered list is missing or superfluous"),
        Damage(
            statement: #"""
                UPDATE Article SET "_position.collection" =
                (SELECT min("_position.collection") FROM Article)
                """#,
            location: "Article.collection", object: ("Article", 2),
            message: "its position in an ordered list is used twice"),
        Damage(
            statement: """
                UPDATE "_join.Article.tags" SET target = 9 WHERE source = 1 AND target = 2
                """,
            location: "Article.tags", object: ("Article", 1),
            message: "it leads to an object that is not there"),
        Damage(
            statement: """
                UPDATE "_join.Article.tags" SET source = 9 WHERE source = 1 AND target = 1
                """,
            location: "Article.tags", object: ("Article", 9),
            message: "it belongs to an object that does not exist"),
        Damage(
            statement: #"UPDATE "_join.Article.tags" SET target_position = 5 WHERE source = 2"#,
            location: "Article.tags", object: ("Article", 2),
            message: "two objects have the same position in its list"),
        Damage(
            statement: #"DELETE FROM "_join.Person.friends" WHERE source = 2"#,
            location: "Person.friends", object: ("Person", 1),
            message: "the inverse link is missing"),
        Damage(
            statement: "INSERT INTO Page (_version, number) VALUES (1, 7)", location: "Page.book",
            object: ("Page", 1), message: "the required reference is nil"),
        Damage(
            statement: "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'Tag'", location: "Tag",
            object: ("Tag", 2), message: "its key is outside of the range of assigned keys"),
        Damage(
            statement: "UPDATE Article SET title = CAST(x'61ff' AS TEXT) WHERE _id = 2",
            location: "Article.title", object: ("Article", 2),
            message: "its value is not a string"),
        Damage(
            statement: "UPDATE Article SET price = '1.2.3' WHERE _id = 1",
            location: "Article.price", object: ("Article", 1),
            message: "its value is not a decimal"),
        Damage(
            statement: "UPDATE Tag SET _version = 0 WHERE _id = 1", location: "Tag",
            object: ("Tag", 1), message: "its version is not positive"),
    ]

    @Test("a check finds each kind of damage with its location and its object", arguments: damages)
    func damage(_ damage: Damage) throws {
        try library.writer.statements?.connection.execute(damage.statement)
        let found = try findings()
        #expect(
            found.contains(
                CheckFinding(
                    location: damage.location,
                    uri: library.identifier(damage.object.entity, damage.object.key)
                        .uriRepresentation,
                    message: damage.message)), "\(found)")
    }

    @Test(
        "a check finds damage of the history",
        arguments: [
            (
                "UPDATE _transaction SET number = 0 WHERE number = 1",
                "the number of a transaction is not positive"
            ),
            (
                "DELETE FROM _transaction WHERE number = 5", "a change belongs to no transaction"
            ),
            (
                "UPDATE _change SET place = 0 WHERE transaction_number = 5 AND place = 1",
                "a change belongs to no transaction"
            ),
            (
                "UPDATE _transaction SET kind = 4 WHERE number = 1",
                "a change has an unknown kind or no object"
            ),
            (
                "UPDATE _change SET last_key = 0 WHERE transaction_number = 5",
                "a change has an unknown kind or no object"
            ),
            (
                "INSERT INTO _preserved VALUES (1, 'Category', 1, 'name', 'x')",
                "a former value belongs to no object that was updated or deleted"
            ),
        ] as [(SQL, String)])
    func historyDamage(statement: SQL, message: String) throws {
        try library.writer.statements?.connection.execute(statement)
        #expect(try findings().contains(CheckFinding(location: "history", message: message)))
    }

    @Test("a check finds an outcome whose transaction is newer than the history")
    func outcomeDamage() throws {
        let set = ChangeSet([.insert(.new("t", "Tag"), values: [:])], idempotencyKey: "k")
        _ = try library.writer.save([set])[0].get()
        #expect(try findings() == [])
        try library.writer.statements?.connection.execute(
            "DELETE FROM _transaction WHERE number = (SELECT max(number) FROM _transaction)")
        let message = "it refers to a transaction after the last one"
        #expect(try findings() == [CheckFinding(location: "outcomes", message: message)])
    }

    @Test("a check reports a thousand findings at most, and indicates that there are more")
    func many() throws {
        try library.writer.statements?.connection.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
            INSERT INTO Page (_version, number) SELECT 1, i FROM n
            """)
        let report = try reader.check(budget: ReadBudget())
        #expect(report.findings.count == CheckReport.findingsMax)
        #expect(report.isTruncated)
    }

    @Test("a check ends at its deadline")
    func deadline() throws {
        try library.writer.statements?.connection.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
            INSERT INTO Tag (_id, _version) SELECT i, 1 FROM n
            """)
        do throws(ReadFailure) {
            _ = try reader.check(budget: ReadBudget(deadline: .now - .seconds(1)))
            Issue.record("the check went on")
        } catch {
            guard case .failed(let failure) = error else { throw error }
            #expect(failure.code == .timeout)
        }
        #expect(try findings() == [])
    }
}

@Suite("A check of a table with objects of several entities")
struct InheritedConsistencyTests {
    private let library: Library
    private let reader: any StoreReader

    init() throws {
        library = try Library(schema: Faculty.schema())
        reader = try library.store.makeReader()
        let school = try library.insert("School")
        let course = try library.insert("Course")
        let tutor = try library.insert("Tutor", ["name": "Cyd", "school": .object(school)])
        try library.insert(
            "Student",
            [
                "name": "Ann", "number": 1, "tutor": .object(tutor), "mentor": .object(tutor),
                "courses": .objects([course]),
            ])
        try library.insert("Teacher", ["name": "Bob", "number": "B", "mentor": .object(tutor)])
    }

    @Test("a check of a consistent table with objects of several entities has no findings")
    func sound() throws {
        #expect(try reader.check(budget: ReadBudget()).findings == [])
    }

    @Test(
        "a check finds objects and values of wrong entities, and links to them",
        arguments: [
            ("UPDATE Member SET _entity = 'Member' WHERE _id = 3", "Member", "Member", 3),
            ("UPDATE Member SET _entity = 'Nobody' WHERE _id = 3", "Member", "Member", 3),
            ("UPDATE Member SET \"Student.number\" = 4 WHERE _id = 3", "Student", "Teacher", 3),
            ("UPDATE Member SET \"Tutor.wage\" = '4' WHERE _id = 2", "Tutor", "Student", 2),
            (
                "UPDATE Member SET \"Student.tutor\" = 3 WHERE _id = 2", "Student.tutor",
                "Student", 2
            ),
            ("UPDATE School SET head = 1 WHERE _id = 1", "School.head", "School", 1),
            (
                "UPDATE \"_join.Course.students\" SET target = 3", "Course.students",
                "Course", 1
            ),
        ] as [(SQL, String, String, Int)])
    func damage(
        _ statement: SQL, location: String, entityName: String, key: Int
    ) throws {
        try library.writer.statements?.connection.execute(statement)
        let findings = try reader.check(budget: ReadBudget()).findings
        let uri = library.identifier(entityName, Int64(key)).uriRepresentation
        #expect(findings.contains { $0.location == location && $0.uri == uri }, "\(findings)")
    }
}
