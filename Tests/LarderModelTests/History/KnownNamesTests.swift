import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@Suite("The names that clients of a former schema know")
struct KnownNamesTests {
    private let names: KnownNames

    init() throws {
        names = KnownNames(
            try Schema(
                version: "1.0.0",
                entities: [
                    Entity(name: "Book", attributes: [Attribute(name: "title", type: .string)]),
                    Entity(
                        name: "Novel", attributes: [Attribute(name: "genre", type: .string)],
                        parent: "Book"),
                ]))
    }

    @Test(
        "the names of a former schema include inherited ones, and differ for different schemas"
    )
    func containing() throws {
        #expect(names.contains("Book") && !names.contains("Loan"))
        #expect(names.contains("title", of: "Novel") && names.contains("genre", of: "Novel"))
        #expect(!names.contains("genre", of: "Book") && !names.contains("reader", of: "Loan"))
        let other = try Schema(version: "2.0.0", entities: [Entity(name: "Book", attributes: [])])
        #expect(KnownNames(other) != names)
    }

    @Test("a run of the history keeps only the names that a former schema has")
    func runs() {
        let update = HistoryRun(.updated, "Novel", 3...5, properties: ["genre", "price", "title"])
        let known = HistoryRun(.updated, "Novel", 3...5, properties: ["genre", "title"])
        #expect(names.known(update) == known)
        #expect(names.known(known) == known)
        #expect(
            names.known(HistoryRun(.updated, "Book", 1...1, properties: ["price"]))
                == HistoryRun(.updated, "Book", 1...1))
        #expect(names.known(HistoryRun(.inserted, "Loan", 1...9)) == nil)
    }

    private func violation(_ entityName: String?, _ property: String, _ change: Int)
        -> ChangeViolation
    {
        ChangeViolation(
            .validationFailed, "\(entityName ?? "it").\(property) is wrong", change: change,
            entityName: entityName, propertyNames: [property],
            uri: "x-coredata://00000000-0000-0000-0000-000000000001/\(entityName ?? "Book")/p7",
            rule: .maximum)
    }

    private func error(_ violations: ChangeViolation...) -> LarderError {
        var error = LarderError(
            violations[0].code, violations[0].message, hint: "change the value",
            uri: violations[0].uri, details: violations)
        error.problems = violations.map { "changes[\($0.change ?? 0)]: \($0.message)" }
        return error
    }

    @Test("an error names only what a former schema has, and keeps its code, rules and changes")
    func errors() {
        let known = error(violation("Book", "title", 0), violation("Novel", "genre", 1))
        #expect(names.known(known) == known)

        let mixed = error(violation("Book", "title", 0), violation("Book", "price", 4))
        let second = names.known(mixed)
        #expect(second.message == mixed.message && second.hint == "change the value")
        #expect(second.details[0] == mixed.details[0])
        #expect(second.details[1].rule == .maximum && second.details[1].change == 4)
        #expect(second.details[1].entityName == "Book" && second.details[1].propertyNames == [])
        #expect(
            second.problems == [
                mixed.problems[0],
                "changes[4]: the change breaks a rule of Book that the schema got after version "
                    + "1.0.0, for which this client was built",
            ])

        let first = names.known(
            error(violation("Loan", "reader", 2), violation("Book", "title", 3)))
        #expect(first.code == .validationFailed)
        #expect(
            first.message
                == "the change breaks a rule that the schema got after version 1.0.0, for which "
                + "this client was built, and there is 1 other error")
        #expect(first.hint == "make this change with a client of the current schema")
        #expect(first.uri == nil && first.details[0].uri == nil)
        #expect(!"\(first)".contains("Loan") && !"\(first.details)".contains("reader"))

        // Errors without details name only what the client has sent.
        let plain = LarderError(.objectNotFound, "the object does not exist")
        #expect(names.known(plain) == plain)
    }
}
