import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("The layout")
struct LayoutTests {
    private let schema: Schema
    private let layout: Layout

    init() throws {
        schema = try Schema(entities: [
            Entity(
                name: "Article",
                attributes: [
                    Attribute(name: "title", type: .string, indexed: .exact),
                    Attribute(name: "price", type: .decimal),
                ],
                relationships: [
                    Relationship(name: "shelf", destination: "Shelf", inverse: "articles"),
                    Relationship(
                        name: "tags", destination: "Tag", isToMany: true, isOrdered: true,
                        inverse: "articles"),
                    Relationship(name: "cover", destination: "Cover", inverse: "article"),
                    Relationship(name: "related", destination: "Article", isToMany: true),
                    Relationship(name: "editor", destination: "Tag"),
                ],
                uniquenessConstraints: [["title", "shelf"]]),
            Entity(
                name: "Shelf", attributes: [],
                relationships: [
                    Relationship(
                        name: "articles", destination: "Article", isToMany: true, isOrdered: true,
                        inverse: "shelf")
                ]),
            Entity(
                name: "Tag", attributes: [],
                relationships: [
                    Relationship(
                        name: "articles", destination: "Article", isToMany: true, inverse: "tags")
                ]),
            Entity(
                name: "Cover", attributes: [],
                relationships: [
                    Relationship(name: "article", destination: "Article", inverse: "cover")
                ]),
        ])
        layout = Layout(schema)
    }

    private func link(_ entityName: String, _ name: String) throws -> Link {
        let entity = try #require(schema.entity(named: entityName))
        let relationship = try #require(entity.relationships.first { $0.name == name })
        return layout.link(for: relationship, of: entity)
    }

    @Test("the layout stores each relationship once, with a location for each side")
    func links() throws {
        #expect(try link("Article", "shelf") == .column(table: "Article", column: "shelf"))
        #expect(
            try link("Shelf", "articles")
                == .inverseColumn(
                    table: "Article", column: "shelf", positionColumn: "_position.shelf"))
        #expect(
            try link("Article", "tags")
                == .join(
                    table: "_join.Article.tags", own: "source", other: "target",
                    positionColumn: "target_position"))
        #expect(
            try link("Tag", "articles")
                == .join(
                    table: "_join.Article.tags", own: "target", other: "source",
                    positionColumn: nil))
        #expect(try link("Article", "cover") == .column(table: "Article", column: "cover"))
        #expect(
            try link("Cover", "article")
                == .inverseColumn(table: "Article", column: "cover", positionColumn: nil))
        #expect(
            try link("Article", "related")
                == .join(
                    table: "_join.Article.related", own: "source", other: "target",
                    positionColumn: nil))
        #expect(try link("Article", "editor") == .column(table: "Article", column: "editor"))
    }

    @Test("the layout creates tables before indexes, with these statements")
    func statements() {
        #expect(
            layout.createStatements.joined(separator: "\n") == """
                CREATE TABLE "Article" ("_id" INTEGER PRIMARY KEY AUTOINCREMENT, "_version" \
                INTEGER NOT NULL, "title" TEXT, "price" TEXT COLLATE decimal, "shelf" \
                INTEGER, "_position.shelf" INTEGER, "cover" INTEGER, "editor" INTEGER)
                CREATE TABLE "Shelf" ("_id" INTEGER PRIMARY KEY AUTOINCREMENT, "_version" \
                INTEGER NOT NULL)
                CREATE TABLE "Tag" ("_id" INTEGER PRIMARY KEY AUTOINCREMENT, "_version" \
                INTEGER NOT NULL)
                CREATE TABLE "Cover" ("_id" INTEGER PRIMARY KEY AUTOINCREMENT, "_version" \
                INTEGER NOT NULL)
                CREATE TABLE "_join.Article.related" ("source" INTEGER NOT NULL, "target" \
                INTEGER NOT NULL, PRIMARY KEY ("source", "target")) WITHOUT ROWID
                CREATE TABLE "_join.Article.tags" ("source" INTEGER NOT NULL, "target" \
                INTEGER NOT NULL, "target_position" INTEGER NOT NULL, PRIMARY KEY \
                ("source", "target")) WITHOUT ROWID
                CREATE INDEX "_link.Article.shelf" ON "Article" ("shelf", "_position.shelf")
                CREATE UNIQUE INDEX "_link.Article.cover" ON "Article" ("cover")
                CREATE INDEX "_link.Article.editor" ON "Article" ("editor")
                CREATE INDEX "_unique.Article.0" ON "Article" ("title", "shelf")
                CREATE INDEX "_index.Article.0" ON "Article" ("title")
                CREATE INDEX "_join.Article.related.target" ON "_join.Article.related" \
                ("target", "source")
                CREATE INDEX "_join.Article.tags.target" ON "_join.Article.tags" ("target", \
                "source")
                CREATE INDEX "_join.Article.tags.target_position" ON \
                "_join.Article.tags" ("source", "target_position")
                """)
    }

    @Test("the layout has one table for a tree of entities, with prefixed columns for subentities")
    func inheritance() throws {
        let layout = Layout(try Faculty.schema())
        let statements = layout.createStatements.filter {
            $0.text.contains("\"Member\"") || $0.text.contains("_join.Student")
        }
        #expect(
            statements.joined(separator: "\n") == """
                CREATE TABLE "Member" ("_id" INTEGER PRIMARY KEY AUTOINCREMENT, "_version" \
                INTEGER NOT NULL, "_entity" TEXT NOT NULL, "name" TEXT, "email" TEXT, "school" \
                INTEGER, "_position.school" INTEGER, "mentor" INTEGER, "Student.number" INTEGER, \
                "Student.grade" REAL, "Student.tutor" INTEGER, "_position.Student.tutor" INTEGER, \
                "Tutor.wage" TEXT COLLATE decimal, "Teacher.number" TEXT)
                CREATE INDEX "_entity.Member" ON "Member" ("_entity")
                CREATE INDEX "_link.Member.school" ON "Member" ("school", "_position.school")
                CREATE INDEX "_link.Member.mentor" ON "Member" ("mentor")
                CREATE UNIQUE INDEX "_unique.Member.0" ON "Member" ("email")
                CREATE INDEX "_index.Member.0" ON "Member" ("name")
                CREATE INDEX "_link.Student.tutor" ON "Member" ("Student.tutor", \
                "_position.Student.tutor")
                CREATE UNIQUE INDEX "_unique.Student.0" ON "Member" ("Student.number")
                CREATE INDEX "_unique.Student.1" ON "Member" ("name", "school")
                CREATE INDEX "_unique.Tutor.0" ON "Member" ("name")
                """)
    }

    @Test("the columns of data are the last ones of a table, after its links")
    func longColumns() throws {
        let entities = [
            Entity(
                name: "Photo",
                attributes: [
                    Attribute(name: "image", type: .data), Attribute(name: "title", type: .string),
                ],
                relationships: [Relationship(name: "album", destination: "Album")]),
            Entity(
                name: "Panorama",
                attributes: [
                    Attribute(name: "raw", type: .data), Attribute(name: "width", type: .int64),
                ], parent: "Photo"),
            Entity(name: "Album", attributes: []),
        ]
        let layout = Layout(try Schema(entities: entities))
        let names = layout.columns(of: try #require(layout.roots.first)).map(\.name)
        #expect(names.suffix(2) == ["image", "Panorama.raw"])
        #expect(Set(names.dropLast(2)).isSuperset(of: ["title", "album", "Panorama.width"]))
    }
}
