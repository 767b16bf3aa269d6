/// The schema file of articles with categories, tags and notes, which several suites use.
public enum ArticleSchema {
    public static let text = """
        { "version": "1.0.0", "entities": [
          { "name": "Article",
            "attributes": [
              { "name": "title", "type": "string" },
              { "name": "words", "type": "int64", "default": 0 },
              { "name": "details", "type": "json", "optional": true } ],
            "relationships": [
              { "name": "category", "destination": "Category", "inverse": "articles" },
              { "name": "tags", "destination": "Tag", "toMany": true, "inverse": "articles" },
              { "name": "notes", "destination": "Note", "toMany": true, "inverse": "article",
                "deleteRule": "cascade" } ] },
          { "name": "Category",
            "attributes": [ { "name": "name", "type": "string", "unique": true } ],
            "relationships": [
              { "name": "parent", "destination": "Category", "inverse": "children" },
              { "name": "children", "destination": "Category", "toMany": true,
                "inverse": "parent" },
              { "name": "articles", "destination": "Article", "toMany": true,
                "inverse": "category" } ] },
          { "name": "Tag",
            "attributes": [ { "name": "name", "type": "string" } ],
            "relationships": [
              { "name": "articles", "destination": "Article", "toMany": true,
                "inverse": "tags" } ] },
          { "name": "Note",
            "attributes": [ { "name": "text", "type": "string" } ],
            "relationships": [
              { "name": "article", "destination": "Article", "inverse": "notes" } ] } ] }
        """
}
