import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("derived attributes reject")
struct DerivationErrorTests {
    private func library(_ attributes: String) throws -> Library {
        try Library(
            schema: SchemaFile.schema(
                parsing: """
                    {"version": "1.0.0", "entities": [
                    {"name": "Item",
                     "attributes": [{"name": "size", "type": "int64", "default": 0},
                                    {"name": "name", "type": "string", "optional": true}],
                     "relationships": [
                      {"name": "box", "destination": "Box", "inverse": "items"}]},
                    {"name": "Box", "attributes": [\(attributes)],
                     "relationships": [
                      {"name": "items", "destination": "Item", "toMany": true,
                       "inverse": "box"}]}]}
                    """))
    }

    private func violation(_ error: LarderError) throws -> ChangeViolation {
        try #require(error.details.first)
    }

    @Test("a value for a derived attribute in an insert or an update is rejected, also nil")
    func givenValue() throws {
        let library = try library(#"{"name": "n", "type": "int64", "derived": "items.@count"}"#)
        let box = try library.insert("Box")
        for change in [
            Change.insert(.new("b", "Box"), values: ["n": 0]),
            .insert(.new("b", "Box"), values: ["n": .null]),
            .update(box, ifVersion: nil, values: ["n": 0]),
        ] {
            let error = try library.refusal(change)
            #expect(error.code == .validationFailed)
            #expect(error.message == "Box.n is derived and cannot be set")
            let violation = try violation(error)
            #expect(violation.rule == .derived)
            #expect(violation.entityName == "Box" && violation.propertyNames == ["n"])
        }
    }

    @Test("a derived sum beyond its type is rejected, with the object")
    func sumOverflow() throws {
        let library = try library(
            #"{"name": "total", "type": "int64", "derived": "items.@sum.size"}"#)
        let box = try library.insert("Box")
        try library.insert("Item", ["size": .int(.max), "box": .object(box)])
        let error = try library.refusal(
            .insert(.new("i", "Item"), values: ["size": 1, "box": .object(box)]))
        #expect(error.code == .arithmeticOverflow)
        let violation = try violation(error)
        #expect(violation.rule == .derived && violation.uri == box.uriRepresentation)
        #expect(violation.entityName == "Box" && violation.propertyNames == ["total"])
        #expect(try library.value(box, "total") == .integer(.max))
        // The set is rejected, and later sets are not.
        try library.insert("Item", ["size": -1, "box": .object(box)])
        #expect(try library.value(box, "total") == .integer(.max - 1))
    }

    @Test("a derived number outside of the attribute's type is rejected")
    func smallType() throws {
        let library = try library(
            #"""
            {"name": "total", "type": "int16", "derived": "items.@sum.size"},
            {"name": "half", "type": "float", "derived": "items.@sum.size / 3.0"}
            """#)
        let box = try library.insert("Box")
        try library.insert("Item", ["size": 32_767, "box": .object(box)])
        #expect(try library.value(box, "total") == .integer(32_767))
        #expect(try library.value(box, "half") == .real(Double(Float(32_767 / 3.0))))
        let error = try library.refusal(
            .insert(.new("i", "Item"), values: ["size": 1, "box": .object(box)]))
        #expect(error.code == .arithmeticOverflow)
        #expect(
            error.message == "Box.total of \(box.uriRepresentation) cannot be derived: "
                + "the derived value is outside the range of int16")
    }

    @Test("a derived nil is rejected if the attribute is not optional")
    func missingValue() throws {
        let library = try library(
            #"{"name": "last", "type": "string", "derived": "items.@max.name"}"#)
        let error = try library.refusal(.insert(.new("b", "Box"), values: [:]))
        #expect(error.code == .missingValue)
        #expect(try violation(error).rule == .derived)
        let saved = try library.saved(
            .insert(.new("b", "Box"), values: [:]),
            .insert(
                .new("i", "Item"),
                values: ["name": "x", "box": .object(.new("b", "Box"))]))
        #expect(try library.value(saved.inserted[0], "last") == .text("x"))
        let left = try library.refusal(.delete(saved.inserted[1], ifVersion: nil))
        #expect(try violation(left).uri == saved.inserted[0].uriRepresentation)
    }

    @Test("the error of many rejected derived values lists the first hundred objects")
    func manyErrors() throws {
        let library = try library(
            #"{"name": "last", "type": "string", "derived": "items.@max.name"}"#)
        let inserts = (0..<150).map { Change.insert(.new("\($0)", "Box"), values: [:]) }
        guard case .failure(let error) = library.writer.save([ChangeSet(inserts)])[0] else {
            return #expect(Bool(false), "the change set was saved")
        }
        #expect(error.details.count == 100)
    }

    @Test("a derivation with a pattern that does not compile is rejected at the store's creation")
    func malformedPattern() throws {
        let error = #expect(throws: LarderError.self) {
            try library(
                #"{"name": "n", "type": "bool", "derived": "(ANY items.name MATCHES '[')"}"#)
        }
        #expect(error?.code == .malformedSchema)
        #expect(error?.problems.first?.hasPrefix("entities[1].attributes[0].derived: ") == true)
    }

    @Test("a derivation too deep for SQLite is rejected at the creation, and leaves no file")
    func tooDeep() throws {
        func text(_ levels: Int) -> String {
            String(repeating: "abs(", count: levels) + "x" + String(repeating: ")", count: levels)
        }
        func store(_ levels: Int, at path: String) throws -> Store {
            try Store.open(
                path: path,
                schema: Schema(entities: [
                    Entity(
                        name: "A",
                        attributes: [
                            Attribute(name: "x", type: .int64),
                            Attribute(
                                name: "y", type: .int64, isOptional: true,
                                derivation: text(levels)),
                        ])
                ]))
        }
        let folder = try MemoryFolder()
        let error = #expect(throws: LarderError.self) { try store(60, at: folder.storePath) }
        #expect(error?.code == .malformedSchema)
        #expect(
            error?.problems == [
                "entities[0].attributes[1].derived: is nested deeper than the database can follow"
            ])
        let writer = try store(20, at: folder.storePath).makeWriter()
        let set = ChangeSet([.insert(.new("a", "A"), values: ["x": -1])])
        _ = try writer.save([set])[0].get()
        writer.close()
    }

    @Test("a derivation that differs from the store's is rejected when the store is opened")
    func otherSchema() throws {
        let folder = try MemoryFolder()
        func schema(_ text: String) throws -> Schema {
            try Schema(entities: [
                Entity(
                    name: "A",
                    attributes: [
                        Attribute(name: "x", type: .int64),
                        Attribute(name: "y", type: .int64, derivation: text),
                    ])
            ])
        }
        do {
            let store = try Store.open(path: folder.storePath, schema: schema("x + 1"))
            try store.makeWriter().close()
        }
        let error = #expect(throws: LarderError.self) {
            try Store.open(path: folder.storePath, schema: schema("x + 2"))
        }
        #expect(error?.code == .schemaMismatch)
        #expect(
            error?.problems == [
                #"A.y: derived is "x + 1" in the store, "x + 2" in the file"#
            ])
        _ = try Store.open(path: folder.storePath, schema: nil)
    }
}

@Suite("a derived attribute of the time")
struct DerivedTimeTests {
    private let library: Library

    init() throws {
        library = try Library(
            schema: SchemaFile.schema(
                parsing: """
                    {"version": "1.0.0", "entities": [
                    {"name": "Note",
                     "attributes": [
                      {"name": "text", "type": "string", "optional": true},
                      {"name": "saved", "type": "date", "derived": "now()"},
                      {"name": "due", "type": "date", "derived": "saved + 60"},
                      {"name": "count", "type": "int64", "derived": "others.@count"}],
                     "relationships": [
                      {"name": "others", "destination": "Note", "toMany": true,
                       "inverse": "one"},
                      {"name": "one", "destination": "Note", "inverse": "others"}]}]}
                    """))
    }

    /// The time of the last transaction of the history.
    private func lastTime() throws -> Double {
        let row = try library.rows("SELECT time FROM _transaction ORDER BY number DESC LIMIT 1")[0]
        guard case .real(let time) = row[0] else { throw LarderError(.wrongType, "no time") }
        return time
    }

    @Test("a derived time is that of the save that last incremented the object's version")
    func time() throws {
        let note = try library.insert("Note")
        let inserted = try lastTime()
        #expect(try library.value(note, "saved") == .real(inserted))
        #expect(try library.value(note, "due") == .real(inserted + 60))
        // A to-one of another object: the note's list changes, but its version does not.
        let other = try library.insert("Note", ["one": .object(note)])
        #expect(try library.value(note, "count") == .integer(1))
        #expect(try library.value(note, "saved") == .real(inserted))
        try library.saved(.update(note, ifVersion: nil, values: [:]))
        let updated = try lastTime()
        #expect(updated > inserted)
        #expect(try library.value(note, "saved") == .real(updated))
        #expect(try library.value(note, "due") == .real(updated + 60))
        // The to-one changes from the other side, and the version is incremented.
        try library.saved(.update(note, ifVersion: nil, values: ["others": .objects([])]))
        #expect(try library.version(other) == 2)
        #expect(try library.value(other, "saved") == .real(try lastTime()))
        // The check ignores values that read the time.
        let report = try library.store.makeReader().check(budget: ReadBudget())
        #expect(report.findings == [])
    }
}
