/// The keys of the schema file, by the object in which they stand.
enum SchemaKey {
    static let document = ["version", "entities"]
    static let entity = [
        "name", "parent", "abstract", "attributes", "relationships", "unique", "indexes",
    ]
    static let attribute = [
        "name", "type", "optional", "default", "unique", "indexed", "minimum", "maximum",
        "minLength", "maxLength", "pattern", "preserveValueOnDeletion", "derived",
    ]
    static let relationship = [
        "name", "destination", "toMany", "ordered", "optional", "inverse", "deleteRule",
        "minCount", "maxCount",
    ]

    /// Known, and refused until a release gives them meaning; false and null pass, because they
    /// ask for nothing.
    static let entityLater = ["originalName"]
    static let attributeLater = ["externalStorage", "transient", "originalName", "hashModifier"]
    static let relationshipLater = ["originalName"]

    /// The order of two keys of one object: as listed above, unknown ones last and by name.
    static func precedes(_ left: String, _ right: String) -> Bool {
        let leftRank = ranks[left] ?? ranks.count
        let rightRank = ranks[right] ?? ranks.count
        return leftRank == rightRank ? left < right : leftRank < rightRank
    }

    private static let ranks: [String: Int] = {
        // A key that several objects share stands before or after the same others in each.
        let order =
            document + ["name", "parent", "abstract", "destination", "type", "toMany", "ordered"]
            + ["attributes"]
            + ["relationships", "optional", "inverse", "deleteRule", "minCount", "maxCount"]
            + attribute + entity
        return Dictionary(
            order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }()
}
