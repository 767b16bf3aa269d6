import Glibc
import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("A schema that is correct and cannot be stored")
struct UnstorableSchemaTests {
    private let folder: MemoryFolder
    private let path: String

    init() throws {
        folder = try MemoryFolder()
        path = folder.storePath
    }

    private func refusal(of schema: Schema) throws -> LarderError {
        let error = #expect(throws: LarderError.self) {
            try Store.open(path: path, schema: schema)
        }
        return try #require(error)
    }

    @Test("a store whose schema has a pattern that does not compile is not created")
    func malformedPattern() throws {
        let validation = Attribute.Validation(pattern: "a(b")
        let bad = try Schema(entities: [
            Entity(
                name: "Note",
                attributes: [Attribute(name: "text", type: .string, validation: validation)])
        ])
        let error = try refusal(of: bad)
        #expect(error.code == .malformedSchema)
        #expect(error.problems.count == 1)
        #expect(error.problems.first?.hasPrefix("entities[0].attributes[0].pattern: ") == true)
        #expect(access(path, F_OK) != 0)
    }

    @Test("a store whose schema constrains a property in another table is not created")
    func unstorableConstraint() throws {
        let bad = try Schema(entities: [
            Entity(
                name: "Cover", attributes: [],
                relationships: [
                    Relationship(name: "note", destination: "Note", inverse: "cover")
                ]),
            Entity(
                name: "Note", attributes: [],
                relationships: [
                    Relationship(name: "cover", destination: "Cover", inverse: "note")
                ], uniquenessConstraints: [["cover"]]),
        ])
        let error = try refusal(of: bad)
        #expect(error.code == .malformedSchema)
        #expect(error.problems.first?.hasPrefix("entities[1].unique: ") == true)
    }
}
