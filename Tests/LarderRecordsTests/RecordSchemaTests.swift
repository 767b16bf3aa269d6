import FoundationEssentials
import LarderRecords
import LarderTesting
import Testing

@Suite("The schema of record types")
struct RecordSchemaTests {
    @Test("record types result in a schema file that includes the related types")
    func schema() throws {
        let schema = try Schema(version: "2.0.0", of: Book.self)
        #expect(schema.version == "2.0.0")
        #expect(schema.entities.map(\.name) == ["Book", "Author", "Tag"])
        let expected = """
            { "version": "2.0.0", "entities": [
              { "name": "Book",
                "attributes": [
                  { "name": "title", "type": "string" },
                  { "name": "pages", "type": "int64", "default": 0, "indexed": true, "minimum": 0 },
                  { "name": "price", "type": "decimal", "optional": true },
                  { "name": "state", "type": "string", "default": "draft" },
                  { "name": "binding", "type": "string", "optional": true },
                  { "name": "edition", "type": "json", "optional": true },
                  { "name": "keywords", "type": "json" },
                  { "name": "published", "type": "date", "optional": true } ],
                "relationships": [
                  { "name": "author", "destination": "Author", "optional": false,
                    "inverse": "books" },
                  { "name": "prequel", "destination": "Book", "inverse": "sequels" },
                  { "name": "sequels", "destination": "Book", "toMany": true, "ordered": true,
                    "inverse": "prequel" },
                  { "name": "tags", "destination": "Tag", "toMany": true, "inverse": "books" } ],
                "unique": [["title", "author"]], "indexes": [["published", "title"]],
                "search": [["title"]] },
              { "name": "Author",
                "attributes": [
                  { "name": "name", "type": "string", "unique": true },
                  { "name": "bookCount", "type": "int64", "derived": "books.@count" } ],
                "relationships": [
                  { "name": "books", "destination": "Book", "toMany": true,
                    "inverse": "author" } ] },
              { "name": "Tag",
                "attributes": [
                  { "name": "name", "type": "string", "unique": true, "maxLength": 30,
                    "originalName": "label" } ],
                "relationships": [
                  { "name": "books", "destination": "Book", "toMany": true, "inverse": "tags" } ] }
            ] }
            """
        #expect(try SchemaFile.schema(parsing: expected).canonicalText == schema.canonicalText)
    }

    @Test("a record of a subentity has its own properties, and can be read with the inherited ones")
    func inheritance() throws {
        let schema = try Schema(of: Student.self)
        let student = try #require(schema.entity(named: "Student"))
        #expect(student.parent == "Person" && student.declared.attributes.map(\.name) == ["year"])
        #expect(student.hashModifier == "2")
        let test = try TestStore(schema)
        try test.client.insert(Student(name: "Ann", year: 2))
        try test.client.insert(Person(name: "Bob"))
        #expect(try test.client.fetch(Person.self).map(\.name) == ["Ann", "Bob"])
        #expect(try test.client.fetch(Student.self).map(\.year) == [2])
        #expect(try test.client.fetch(Person.self, includesSubentities: false).count == 1)
    }

    @Test("record types that differ from the store are reported with every difference")
    func agreement() throws {
        let schema = try SchemaFile.schema(
            parsing: """
                { "version": "1.0.0", "entities": [
                  { "name": "Book", "attributes": [
                      { "name": "title", "type": "string", "optional": true },
                      { "name": "pages", "type": "int32", "default": 0 } ] } ] }
                """)
        let test = try TestStore(schema)
        let failure = #expect(throws: LarderError.self) {
            try test.client.verify(BookTitle.self, Tag.self, Book.self)
        }
        #expect(failure?.code == .schemaMismatch)
        let problems = try #require(failure?.problems)
        #expect(problems.contains("Book.title is optional string in the store, not string"))
        #expect(problems.contains("Book.pages is int32 in the store, not int64"))
        #expect(problems.contains("the store has no property Book.price"))
        #expect(problems.contains("the store has no entity Tag"))
        try Library().store.verify(Book.self, Author.self, Tag.self, BookTitle.self)
    }
}
