import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("the check of required references")
struct RequiredReferenceCheckTests {
    private let library: Library
    private let badge: PersistentIdentifier
    private let player: PersistentIdentifier

    init() throws {
        library = try Library(schema: League.schema())
        player = try library.insert("Player")
        badge = try library.insert("Badge", ["player": .object(player)])
    }

    /// Records a required reference, runs SQL, checks, and returns the error.
    private func error(
        _ cause: RequiredReferenceCheck.Cause, _ statement: SQL
    ) throws -> LarderError? {
        try library.withContext { context in
            var check = RequiredReferenceCheck()
            check.record(
                try library.relationship("Badge.player"), of: try library.object(badge), cause,
                change: 3)
            try context.execute(statement)
            try check.check(context)
            return context.errors.error(changeCount: 1)
        }
    }

    @Test("the check of required references reports a reference that is nil at the end")
    func violations() throws {
        let clear: SQL = "UPDATE Badge SET player = NULL"
        let unlinked = try #require(try error(.unlinked, clear))
        #expect(unlinked.code == .missingValue && unlinked.details[0].change == 3)
        #expect(unlinked.uri == badge.uriRepresentation)
        #expect(try error(.notSet, clear)?.message == "Badge.player is required")
        let deleted = try error(.deleted(library.object(player)), clear)
        #expect(deleted?.code == .deleteDenied)
        #expect(deleted?.message.hasPrefix(player.uriRepresentation) == true)
    }

    @Test("the check of required references ignores a reference that has a value again")
    func corrected() throws {
        #expect(try error(.unlinked, "SELECT 1") == nil)
        #expect(try error(.unlinked, "DELETE FROM Badge") == nil)
    }

    @Test("the check of required references reports a reference that the other side stores")
    func otherSide() throws {
        let library = try Library()
        let book = try library.insert(
            "Book", ["binding": .object(try library.insert("Binding"))])
        try library.withContext { context in
            var check = RequiredReferenceCheck()
            check.record(
                try library.relationship("Book.binding"), of: try library.object(book), .notSet,
                change: nil)
            try check.check(context)
            #expect(context.errors.isEmpty)
            try context.execute("UPDATE Binding SET book = NULL")
            try check.check(context)
            #expect(context.summary == ["MISSING_VALUE"])
        }
    }

    @Test("the check of required references records no optional reference")
    func optional() throws {
        var check = RequiredReferenceCheck()
        let object = try library.object(player)
        check.record(
            try library.relationship("Player.team"), of: object, .notSet, change: nil)
        #expect(check.recordCount == 0)
    }
}
