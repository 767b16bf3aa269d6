import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

/// A schema with a derived attribute over each kind of relationship, and queries that compute the
/// expected values.
enum Newsroom {
    static func schema() throws -> Schema { try SchemaFile.schema(parsing: text) }

    private static let text = """
        {"version": "1.0.0", "entities": [
        {"name": "Article",
         "attributes": [
          {"name": "title", "type": "string"},
          {"name": "wordCount", "type": "int64", "default": 0},
          {"name": "code", "type": "string", "optional": true, "unique": true},
          {"name": "price", "type": "decimal", "optional": true},
          {"name": "searchTitle", "type": "string", "derived": "canonical:(title)",
           "indexed": true},
          {"name": "lowerCode", "type": "string", "derived": "lowercase(code)",
           "optional": true},
          {"name": "share", "type": "int64", "derived": "wordCount / (wordCount - 3)",
           "optional": true},
          {"name": "isOrphan", "type": "bool", "derived": "(category == nil)"},
          {"name": "categoryName", "type": "string", "derived": "category.name",
           "optional": true},
          {"name": "categoryWords", "type": "int64", "derived": "category.wordTotal",
           "optional": true},
          {"name": "collectionSize", "type": "int64", "derived": "collection.articleCount",
           "optional": true},
          {"name": "sourceTitle", "type": "string", "derived": "source.title",
           "optional": true},
          {"name": "relatedWords", "type": "int64", "derived": "related.@sum.wordCount"},
          {"name": "lastTag", "type": "string", "derived": "tags.@max.text",
           "optional": true},
          {"name": "pages", "type": "int32", "derived": "coalesce(cover.pages, 0)"},
          {"name": "twinTitle", "type": "string", "derived": "twin.title", "optional": true},
          {"name": "friendPrices", "type": "decimal", "derived": "friends.@sum.price"},
          {"name": "parentTitle", "type": "string", "derived": "parent.searchTitle",
           "optional": true},
          {"name": "childWords", "type": "double", "derived": "children.@avg.wordCount",
           "optional": true},
          {"name": "shelfName", "type": "string", "derived": "shelf.name",
           "optional": true}],
         "relationships": [
          {"name": "category", "destination": "Category", "inverse": "articles"},
          {"name": "collection", "destination": "Collection", "inverse": "articles"},
          {"name": "source", "destination": "Article"},
          {"name": "related", "destination": "Article", "toMany": true},
          {"name": "tags", "destination": "Tag", "toMany": true, "ordered": true,
           "inverse": "articles"},
          {"name": "cover", "destination": "Cover", "inverse": "article",
           "deleteRule": "cascade"},
          {"name": "twin", "destination": "Article", "inverse": "twin"},
          {"name": "friends", "destination": "Article", "toMany": true,
           "inverse": "friends"},
          {"name": "parent", "destination": "Article", "inverse": "children"},
          {"name": "children", "destination": "Article", "toMany": true,
           "inverse": "parent", "deleteRule": "cascade"},
          {"name": "shelf", "destination": "Shelf", "inverse": "articles"}]},
        {"name": "Category",
         "attributes": [
          {"name": "name", "type": "string", "unique": true},
          {"name": "articleCount", "type": "int64", "derived": "articles.@count"},
          {"name": "wordTotal", "type": "int64", "derived": "articles.@sum.wordCount",
           "indexed": true},
          {"name": "longCount", "type": "int16",
           "derived": "SUBQUERY(articles, $a, $a.wordCount > 50).@count"},
          {"name": "pageTotal", "type": "int64", "derived": "articles.@sum.pages"}],
         "relationships": [
          {"name": "articles", "destination": "Article", "toMany": true,
           "inverse": "category"}]},
        {"name": "Collection",
         "attributes": [
          {"name": "articleCount", "type": "int64", "derived": "articles.@count"},
          {"name": "titles", "type": "int64", "derived": "articles.@countDistinct.title"}],
         "relationships": [
          {"name": "articles", "destination": "Article", "toMany": true, "ordered": true,
           "inverse": "collection", "deleteRule": "cascade"}]},
        {"name": "Tag",
         "attributes": [
          {"name": "text", "type": "string"},
          {"name": "words", "type": "int64", "derived": "articles.@sum.wordCount"}],
         "relationships": [
          {"name": "articles", "destination": "Article", "toMany": true,
           "inverse": "tags"}]},
        {"name": "Cover",
         "attributes": [
          {"name": "pages", "type": "int16", "default": 1},
          {"name": "articleTitle", "type": "string", "derived": "article.title",
           "optional": true}],
         "relationships": [
          {"name": "article", "destination": "Article", "inverse": "cover"}]},
        {"name": "Shelf",
         "attributes": [
          {"name": "name", "type": "string"},
          {"name": "articleCount", "type": "int64", "derived": "articles.@count"}],
         "relationships": [
          {"name": "articles", "destination": "Article", "toMany": true,
           "inverse": "shelf", "deleteRule": "noAction"}]}
        ]}
        """
}

/// The derived attributes of one object.
typealias DerivedValues = [String: Value]

extension Library {
    /// The stored values of each object, and the values that a query computes now.
    func derivedValues() throws -> (
        stored: [PersistentIdentifier: DerivedValues],
        computed: [PersistentIdentifier: DerivedValues]
    ) {
        let reader = try store.makeReader()
        var stored: [PersistentIdentifier: DerivedValues] = [:]
        var computed: [PersistentIdentifier: DerivedValues] = [:]
        for entity in store.layout.schema.entities {
            let derived = entity.attributes.filter(\.isDerived)
            let columns = derived.flatMap { attribute in
                [
                    QueryColumn(attribute.name),
                    QueryColumn(attribute.derivation ?? "", name: "=\(attribute.name)"),
                ]
            }
            for (object, row) in try rows(of: entity.name, columns, reader) {
                for (place, attribute) in derived.enumerated() {
                    stored[object, default: [:]][attribute.name] = row[2 * place]
                    computed[object, default: [:]][attribute.name] =
                        row[2 * place + 1].converted(to: attribute.type)
                }
            }
        }
        return (stored, computed)
    }

    private func rows(
        of entityName: String, _ columns: [QueryColumn], _ reader: any StoreReader
    ) throws -> [(PersistentIdentifier, [Value])] {
        let identifier = store.storeDescription.identifier
        let parameters = QueryParameters()
        let plan = try store.plan(
            .fetch(Fetch(entityName, selection: .columns(columns))), parameters)
        let cursor = try reader.open(plan, parameters, budget: ReadBudget())
        defer { cursor.close() }
        var rows: [(PersistentIdentifier, [Value])] = []
        while true {
            let (batch, isLast) = try cursor.next(bytesMax: 1 << 20, budget: ReadBudget())
            let keys = try #require(batch.identity?.keys)
            for (row, key) in keys.enumerated() {
                let object = PersistentIdentifier(
                    store: identifier, entityName: entityName, key: key)
                let values = batch.columns.indices.map {
                    batch.value(row: row, column: $0, store: identifier)
                }
                rows.append((object, values))
            }
            if isLast { return rows }
        }
    }
}
