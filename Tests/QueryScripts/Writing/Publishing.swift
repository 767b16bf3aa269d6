import LarderModel

/// A schema with one relationship of each kind.
package enum Publishing {
    package static func schema() throws -> Schema {
        try Schema(entities: articles + people + books)
    }

    private static let articles: [Entity] = [
        Entity(
            name: "Article",
            attributes: [
                Attribute(name: "title", type: .string),
                Attribute(
                    name: "wordCount", type: .int64, defaultValue: .int(0),
                    validation: .init(minimum: .int(0), maximum: .int(1_000))),
                Attribute(name: "small", type: .int16, isOptional: true),
                Attribute(
                    name: "code", type: .string, isOptional: true,
                    validation: .init(minLength: 2, maxLength: 4, pattern: "[A-Z]*")),
                Attribute(
                    name: "price", type: .decimal, isOptional: true,
                    validation: .init(maximum: .decimal(100))),
                Attribute(name: "notes", type: .json, isOptional: true),
            ],
            relationships: [
                Relationship(name: "category", destination: "Category", inverse: "articles"),
                Relationship(
                    name: "collection", destination: "Collection", inverse: "articles"),
                Relationship(
                    name: "tags", destination: "Tag", isToMany: true, isOrdered: true,
                    inverse: "articles"),
                Relationship(
                    name: "cover", destination: "Cover", inverse: "article",
                    deleteRule: .cascade),
                Relationship(name: "related", destination: "Article", isToMany: true),
                Relationship(name: "source", destination: "Article"),
            ],
            uniquenessConstraints: [["title", "collection"]]),
        Entity(
            name: "Category",
            attributes: [Attribute(name: "name", type: .string, unique: .exact)],
            relationships: [
                Relationship(
                    name: "articles", destination: "Article", isToMany: true,
                    inverse: "category")
            ]),
        Entity(
            name: "Collection", attributes: [],
            relationships: [
                Relationship(
                    name: "articles", destination: "Article", isToMany: true, isOrdered: true,
                    inverse: "collection", deleteRule: .cascade)
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
    ]

    private static let people: [Entity] = [
        Entity(
            name: "Person", attributes: [],
            relationships: [
                Relationship(name: "spouse", destination: "Person", inverse: "spouse"),
                Relationship(
                    name: "friends", destination: "Person", isToMany: true, isOrdered: true,
                    inverse: "friends"),
                Relationship(
                    name: "parent", destination: "Person", inverse: "children",
                    deleteRule: .cascade),
                Relationship(
                    name: "children", destination: "Person", isToMany: true,
                    inverse: "parent", deleteRule: .cascade),
            ])
    ]

    private static let books: [Entity] = [
        Entity(
            name: "Page", attributes: [Attribute(name: "number", type: .int32)],
            relationships: [
                Relationship(
                    name: "book", destination: "Book", isOptional: false, inverse: "pages")
            ]),
        Entity(
            name: "Book", attributes: [],
            relationships: [
                Relationship(
                    name: "pages", destination: "Page", isToMany: true, isOrdered: true,
                    inverse: "book"),
                Relationship(
                    name: "binding", destination: "Binding", isOptional: false,
                    inverse: "book"),
            ]),
        Entity(
            name: "Binding", attributes: [],
            relationships: [Relationship(name: "book", destination: "Book", inverse: "binding")]
        ),
    ]
}
