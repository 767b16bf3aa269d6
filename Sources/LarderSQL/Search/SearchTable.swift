import LarderModel

/// An index of texts: a virtual table of SQLite's extension FTS5.
///
/// It has a row for each object with a text, with the object's key and the terms of the texts, and
/// not the texts themselves (`content=''`). There are two kinds.
///
/// - Of the parts of one attribute's texts: its terms are the trigrams of ``SearchForm``, every
///   three characters that follow each other, without their positions (`detail=none`). It finds the
///   objects whose texts may contain a part, and each of these texts is then compared.
/// - Of the words of one or several attributes: its terms are the words that `SEARCH` compares,
///   with their positions and numbers. It has all that a search and its score need.
package struct SearchTable: Hashable, Sendable {
    package enum Terms: Hashable, Sendable {
        case trigrams
        case words
    }

    /// The suffix of the table with the numbers of words per row.
    static let sizesSuffix = "_docsize"
    /// The suffix of the table with the pages on which terms begin.
    package static let pagesSuffix = "_idx"

    /// The number of characters in a trigram.
    package static let termLength = 3

    package let terms: Terms
    package let name: String
    /// The table and the columns of the attributes.
    package let table: String
    package let textColumns: [String]
    /// For messages: `Article.title`.
    package let attributeName: String

    /// The columns of the index.
    package var columns: [String] {
        switch terms {
        case .trigrams: ["text"]
        case .words: textColumns.indices.map { "c\($0)" }
        }
    }

    package var create: SQL {
        let columns = columns.map { "\(name: $0)" as SQL }.joined(separator: ", ")
        // The words have no other ASCII characters than letters and digits, so that this tokenizer
        // divides them at spaces only.
        let options: SQL =
            terms == .words
            ? "tokenize='ascii'"
            : "columnsize=0, detail=none, tokenize='trigram case_sensitive 1'"
        return "CREATE VIRTUAL TABLE \(name: name) USING fts5(\(columns), content='', \(options))"
    }

    package var drop: SQL { "DROP TABLE \(name: name)" }

    /// Adds all objects to an empty index.
    package var fill: SQL {
        """
        INSERT INTO \(name: name) (rowid, \(columnList)) SELECT \(name: Layout.keyColumn), \
        \(forms("")) FROM \(name: table) WHERE \(isAnyPresent(""))
        """
    }

    /// The tables in which FTS5 stores the index, as it creates them.
    package var storageTables: [String] { storage.map { name + $0.suffix } }

    package var createStorage: [SQL] {
        storage.map { "CREATE TABLE \(literal: name + $0.suffix)\($0.columns)" }
    }

    private var storage: [(suffix: String, columns: SQL)] {
        var tables: [(suffix: String, columns: SQL)] = [
            ("_data", "(id INTEGER PRIMARY KEY, block BLOB)"),
            (Self.pagesSuffix, "(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID"),
        ]
        if terms == .words {
            tables.append((Self.sizesSuffix, "(id INTEGER PRIMARY KEY, sz BLOB)"))
        }
        tables.append(("_config", "(k PRIMARY KEY, v) WITHOUT ROWID"))
        return tables
    }

    /// Triggers of the writer's connection, which are not part of the file. They keep the index in
    /// the same transaction and statement as the object, whatever changes it.
    package var createTriggers: [SQL] {
        let (index, table): (SQL, SQL) = ("\(name: name)", "main.\(name: table)")
        let key: SQL = "\(name: Layout.keyColumn)"
        let add: SQL = """
            INSERT INTO \(index) (rowid, \(columnList)) \
            SELECT new.\(key), \(forms("new.")) WHERE \(isAnyPresent("new."));
            """
        // The index has to be given what it has of the texts.
        let remove: SQL = """
            INSERT INTO \(index) (\(index), rowid, \(columnList)) \
            SELECT 'delete', old.\(key), \(forms("old.")) WHERE \(isAnyPresent("old."));
            """
        let texts = textColumns.map { "\(name: $0)" as SQL }
        let isChanged = texts.map { "old.\($0) IS NOT new.\($0)" as SQL }
            .joined(separator: " OR ")
        return [
            """
            CREATE TEMP TRIGGER \(name: name + ".insert") AFTER INSERT ON \(table) \
            WHEN \(isAnyPresent("new.")) BEGIN \(add) END
            """,
            """
            CREATE TEMP TRIGGER \(name: name + ".update") AFTER UPDATE OF \
            \(texts.joined(separator: ", ")) ON \(table) WHEN \(isChanged) \
            BEGIN \(remove) \(add) END
            """,
            """
            CREATE TEMP TRIGGER \(name: name + ".delete") AFTER DELETE ON \(table) \
            WHEN \(isAnyPresent("old.")) BEGIN \(remove) END
            """,
        ]
    }

    private var columnList: SQL {
        columns.map { "\(name: $0)" as SQL }.joined(separator: ", ")
    }

    /// The function that makes the terms of a text, separated by what the tokenizer needs.
    private var formFunction: String {
        terms == .words ? IndexFunctions.wordForm : IndexFunctions.searchForm
    }

    private func forms(_ row: SQL) -> SQL {
        textColumns.map { "\(function: formFunction)(\(row)\(name: $0))" as SQL }
            .joined(separator: ", ")
    }

    private func isAnyPresent(_ row: SQL) -> SQL {
        textColumns.map { "\(row)\(name: $0) IS NOT NULL" as SQL }.joined(separator: " OR ")
    }
}

extension Layout {
    /// The indexes of texts that the schema requests.
    package var searchTables: [SearchTable] {
        schema.entities.flatMap { entity in
            entity.declared.attributes.compactMap { searchTable(for: $0, of: entity) }
                + entity.declared.wordIndexes.compactMap { wordTable(for: $0, of: entity) }
        }
    }

    /// The index of the parts of an attribute's texts; nil if it has none.
    func searchTable(for attribute: Attribute, of entity: Entity) -> SearchTable? {
        guard attribute.search.contains(.parts) else { return nil }
        let declarer = schema.declaringEntity(of: attribute.name, in: entity)
        let name = "\(declarer.name).\(attribute.name)"
        return present(
            SearchTable(
                terms: .trigrams, name: "_search.\(name)", table: self.table(for: entity),
                textColumns: [column(for: attribute, of: entity)], attributeName: name))
    }

    /// The indexes of the words of an attribute's texts, each with the attribute's column.
    func wordIndexes(for attribute: Attribute, of entity: Entity) -> [PlanWordIndex] {
        entity.wordIndexes.compactMap { names in
            guard let column = names.firstIndex(of: attribute.name),
                let table = wordTable(for: names, of: entity)
            else { return nil }
            return PlanWordIndex(table: table.name, column: column, columnCount: names.count)
        }
    }

    /// The index of the words of some attributes; nil if the store lacks it.
    private func wordTable(for names: [String], of entity: Entity) -> SearchTable? {
        // A subentity may declare an index of inherited attributes.
        var declarer = entity
        while !declarer.declared.wordIndexes.contains(names), let name = declarer.parent,
            let parent = schema.entity(named: name)
        {
            declarer = parent
        }
        let columns = names.compactMap { name in
            declarer.property(named: name).flatMap { column(for: $0, of: declarer) }
        }
        return present(
            SearchTable(
                terms: .words, name: "_words.\(declarer.name).\(names.joined(separator: "."))",
                table: table(for: entity), textColumns: columns,
                attributeName: names.map { "\(declarer.name).\($0)" }.joined(separator: ", ")))
    }

    private func present(_ table: SearchTable) -> SearchTable? {
        presentSearchTables?.contains(table) == false ? nil : table
    }
}
