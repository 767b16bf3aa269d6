import LarderModel

/// A schema with an ordered list of each kind: one to many, many to many on both sides, without
/// inverse, and the same to oneself; and lists without order.
package enum Lists {
    package static func schema() throws -> Schema {
        try Schema(entities: [shelf, book, reader, tag, box, lid])
    }

    private static func list(
        _ name: String, of destination: String, inverse: String? = nil, isOrdered: Bool = true
    ) -> Relationship {
        Relationship(
            name: name, destination: destination, isToMany: true, isOrdered: isOrdered,
            inverse: inverse)
    }

    private static let shelf = Entity(
        name: "Shelf", attributes: [Attribute(name: "label", type: .string, isOptional: true)],
        relationships: [
            list("books", of: "Book", inverse: "shelf"), list("featured", of: "Book"),
        ])

    private static let book = Entity(
        name: "Book", attributes: [],
        relationships: [
            Relationship(name: "shelf", destination: "Shelf", inverse: "books"),
            list("readers", of: "Reader", inverse: "books"),
            list("tags", of: "Tag", inverse: "books", isOrdered: false),
        ])

    private static let reader = Entity(
        name: "Reader", attributes: [],
        relationships: [
            list("books", of: "Book", inverse: "readers"),
            list("friends", of: "Reader", inverse: "friends"),
            list("follows", of: "Reader", inverse: "followers"),
            list("followers", of: "Reader", inverse: "follows"),
            Relationship(name: "mentor", destination: "Reader", inverse: "pupils"),
            list("pupils", of: "Reader", inverse: "mentor"),
            // The form with the list first in the order of the schema.
            list("heirs", of: "Reader", inverse: "donor"),
            Relationship(name: "donor", destination: "Reader", inverse: "heirs"),
        ])

    private static let tag = Entity(
        name: "Tag",
        attributes: [Attribute(name: "code", type: .string, isOptional: true, unique: .exact)],
        relationships: [list("books", of: "Book", inverse: "tags", isOrdered: false)])

    private static let box = Entity(
        name: "Box", attributes: [],
        relationships: [
            Relationship(
                name: "lids", destination: "Lid", isToMany: true, isOrdered: true, inverse: "box",
                maxCount: 3)
        ])

    private static let lid = Entity(
        name: "Lid", attributes: [],
        relationships: [
            Relationship(name: "box", destination: "Box", isOptional: false, inverse: "lids")
        ])
}
