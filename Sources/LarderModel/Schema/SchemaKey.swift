/// The keys of the schema file, by the object that contains them. `docs/schema.md` describes them,
/// and `docs/schema.json` for editors.
package enum SchemaKey {
    package static let document = ["$schema", "version", "entities"]
    package static let entity = [
        "name", "parent", "abstract", "attributes", "relationships", "unique", "indexes", "search",
        "history", "originalName", "hashModifier",
    ]
    package static let attribute = [
        "name", "type", "optional", "default", "unique", "indexed", "search", "minimum",
        "maximum", "minLength", "maxLength", "pattern", "scale", "preserveValueOnDeletion",
        "derived", "originalName", "hashModifier",
    ]
    package static let relationship = [
        "name", "destination", "toMany", "ordered", "optional", "inverse", "deleteRule",
        "minCount", "maxCount", "originalName", "hashModifier",
    ]

    /// The value of `unique` and `indexed` for strings without case and accents.
    package static let insensitive = "insensitive"

    /// The keys of `search`, if it is an object, and the values of `tokens`.
    package static let search = ["tokens"]
    package static let (trigram, words) = ("trigram", "words")

    /// The values of `history`: which properties a transaction has changed, and also their values
    /// before.
    package static let (changes, values) = ("changes", "values")

    /// Keys of attributes that are reserved for later releases and rejected until then. The values
    /// false and null are accepted, since they request nothing.
    package static let attributeReserved = ["externalStorage", "transient"]

    /// The order of two keys of an object: as listed above, then unknown keys by name.
    package static func precedes(_ left: String, _ right: String) -> Bool {
        let leftRank = ranks[left] ?? ranks.count
        let rightRank = ranks[right] ?? ranks.count
        return leftRank == rightRank ? left < right : leftRank < rightRank
    }

    private static let ranks: [String: Int] = {
        // Keys that several objects share have the same relative order in each.
        let order =
            document + ["name", "parent", "abstract", "destination", "type", "toMany", "ordered"]
            + ["attributes"]
            + ["relationships", "optional", "inverse", "deleteRule", "minCount", "maxCount"]
            + ["default", "unique", "indexes"] + attribute + search + ["history"]
        return Dictionary(
            order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }()
}
