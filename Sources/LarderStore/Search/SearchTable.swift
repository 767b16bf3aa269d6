import LarderModel

/// The index of the parts of an attribute's texts: a virtual table of SQLite's extension FTS5.
///
/// It has a row for each object with a text, with the object's key and the trigrams of the text's
/// ``SearchForm``: every three characters that follow each other. It does not have the text itself
/// (`content=''`), nor the positions of the trigrams (`detail=none`). So it finds the objects whose
/// texts may contain a part, and each of these texts is then compared.
struct SearchTable: Hashable, Sendable {
    /// The number of characters in a term of the index.
    static let termLength = 3
    /// Its only column.
    static let column: SQL = "text"

    let name: String
    /// The table and the column of the attribute.
    let table: String
    let textColumn: String
    /// For messages: `Article.title`.
    let attributeName: String

    var create: SQL {
        """
        CREATE VIRTUAL TABLE \(name: name) USING fts5(\(Self.column), content='', columnsize=0, \
        detail=none, tokenize='trigram case_sensitive 1')
        """
    }

    var drop: SQL { "DROP TABLE \(name: name)" }

    /// Adds all objects to an empty index.
    var fill: SQL {
        """
        INSERT INTO \(name: name) (rowid, \(Self.column)) SELECT \(name: Layout.keyColumn), \
        \(form("\(name: textColumn)")) FROM \(name: table) WHERE \(name: textColumn) IS NOT NULL
        """
    }

    /// The tables in which FTS5 stores the index, as it creates them.
    var storageTables: [String] { ["_data", "_idx", "_config"].map { name + $0 } }

    var createStorage: [SQL] {
        let columns: [SQL] = [
            "(id INTEGER PRIMARY KEY, block BLOB)",
            "(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID",
            "(k PRIMARY KEY, v) WITHOUT ROWID",
        ]
        return zip(storageTables, columns).map { "CREATE TABLE \(literal: $0)\($1)" }
    }

    /// Triggers of the writer's connection, which are not part of the file. They keep the index in
    /// the same transaction and statement as the object, whatever changes it.
    var createTriggers: [SQL] {
        let (index, table, text): (SQL, SQL, SQL) = (
            "\(name: name)", "main.\(name: table)", "\(name: textColumn)"
        )
        let key: SQL = "\(name: Layout.keyColumn)"
        let add: SQL = """
            INSERT INTO \(index) (rowid, \(Self.column)) \
            SELECT new.\(key), \(form("new.\(text)")) WHERE new.\(text) IS NOT NULL;
            """
        // The index has to be given what it has of the text.
        let remove: SQL = """
            INSERT INTO \(index) (\(index), rowid, \(Self.column)) \
            SELECT 'delete', old.\(key), \(form("old.\(text)")) WHERE old.\(text) IS NOT NULL;
            """
        return [
            """
            CREATE TEMP TRIGGER \(name: name + ".insert") AFTER INSERT ON \(table) \
            WHEN new.\(text) IS NOT NULL BEGIN \(add) END
            """,
            """
            CREATE TEMP TRIGGER \(name: name + ".update") AFTER UPDATE OF \(text) ON \(table) \
            WHEN old.\(text) IS NOT new.\(text) BEGIN \(remove) \(add) END
            """,
            """
            CREATE TEMP TRIGGER \(name: name + ".delete") AFTER DELETE ON \(table) \
            WHEN old.\(text) IS NOT NULL BEGIN \(remove) END
            """,
        ]
    }

    private func form(_ text: SQL) -> SQL { "\(function: IndexFunctions.searchForm)(\(text))" }
}

extension Layout {
    /// The indexes of the parts of texts, one for each searchable attribute.
    var searchTables: [SearchTable] {
        schema.entities.flatMap { entity in
            entity.declared.attributes.compactMap { searchTable(for: $0, of: entity) }
        }
    }

    /// nil if the attribute has none.
    func searchTable(for attribute: Attribute, of entity: Entity) -> SearchTable? {
        guard attribute.isSearchable else { return nil }
        let declarer = schema.declaringEntity(of: attribute.name, in: entity)
        let name = "\(declarer.name).\(attribute.name)"
        let table = SearchTable(
            name: "_search.\(name)", table: self.table(for: entity),
            textColumn: column(for: attribute, of: entity), attributeName: name)
        return presentSearchTables?.contains(table) == false ? nil : table
    }
}
