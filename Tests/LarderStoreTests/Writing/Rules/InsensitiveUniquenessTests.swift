import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("a uniqueness constraint that ignores case and accents")
struct InsensitiveUniquenessTests {
    private let library: Library

    init() throws {
        library = try Library(
            schema: Schema(entities: [
                Entity(
                    name: "User",
                    attributes: [
                        Attribute(
                            name: "name", type: .string, isOptional: true,
                            unique: .insensitive),
                        Attribute(name: "age", type: .int64, defaultValue: .int(0)),
                    ])
            ]))
    }

    private func names() throws -> [SQLValue] { try library.values("User", "name") }

    @Test("case-insensitive uniqueness rejects values that differ in case, and names both")
    func violation() throws {
        let first = try library.insert("User", ["name": "Émile"])
        let error = try library.refusal(.insert(.new("u", "User"), values: ["name": "EMILE"]))
        #expect(error.code == .uniquenessViolated)
        #expect(error.details.first?.rule == .unique)
        #expect(
            error.message
                == "User.name must be unique without regard to case and accents "
                + "(\"EMILE\" is \"Émile\"), and \(first.uriRepresentation) has the same")
        try library.insert("User", ["name": "Emil"])
        try library.insert("User", [:])
        try library.insert("User", [:])
    }

    @Test("case-insensitive uniqueness permits an object to change the case of its own value")
    func ownValue() throws {
        let user = try library.insert("User", ["name": "ada"])
        try library.saved(.update(user, ifVersion: nil, values: ["name": "Ada"]))
        #expect(try names() == [.text("Ada")])
    }

    @Test("case-insensitive uniqueness permits one set to exchange values")
    func exchange() throws {
        let users = try ["ada", "Bob"].map { try library.insert("User", ["name": .string($0)]) }
        try library.saved(
            .update(users[0], ifVersion: nil, values: ["name": "BOB"]),
            .update(users[1], ifVersion: nil, values: ["name": "Ädä"]))
        #expect(try names() == [.text("BOB"), .text("Ädä")])
        let error = try library.refusal(
            .update(users[0], ifVersion: nil, values: ["name": "ADA"]),
            .update(users[1], ifVersion: nil, values: ["name": "ada"]))
        #expect(error.code == .uniquenessViolated)
    }

    @Test("case-insensitive uniqueness lets an upsert find the object, also within one set")
    func upsert() throws {
        try library.insert("User", ["name": "Zoë"])
        func insert(_ name: String, _ age: Int64) -> Change {
            .insert(.new("\(age)", "User"), values: ["name": .string(name), "age": .int(age)])
        }
        let set = ChangeSet(
            [insert("ZOE", 1), insert("Max", 2), insert("MAX", 3)], onUniqueConflict: .upsert)
        _ = try library.writer.save([set])[0].get()
        #expect(try names() == [.text("ZOE"), .text("MAX")])
        #expect(try library.integers("User", "age") == [1, 3])
    }

    @Test("case-insensitive uniqueness holds for changes by predicate and for rows of a stream")
    func otherWrites() throws {
        for name in ["ada", "bob"] { try library.insert("User", ["name": .string(name)]) }
        let error = try library.refusal(.updateAll("User", set: ["name": "'Ada'"]))
        #expect(error.code == .uniquenessViolated)
        try library.saved(.updateAll("User", set: ["name": "uppercase:(name)"]))
        #expect(try names() == [.text("ADA"), .text("BOB")])
        let rows = try library.batch("User", ["name"], [["carl"], ["àdà"]])
        let refusal = try library.refusal(Insertion("User"), firstRow: 0, [rows])
        #expect(refusal.code == .uniquenessViolated)
        #expect(refusal.details.map(\.change) == [1])
        let updated = try library.inserted(Insertion("User", onUniqueConflict: .upsert), [rows])
        #expect(updated.rowCount == 2)
        #expect(try names() == [.text("àdà"), .text("BOB"), .text("carl")])
    }
}
