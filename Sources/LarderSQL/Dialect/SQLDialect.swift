import LarderModel

/// The SQL of a database, where SQLite's and PostgreSQL's differ: a table of words and forms, which
/// the writers of statements use.
package enum SQLDialect: Sendable {
    case sqlite
    case postgres

    // MARK: Truth

    /// A predicate that has this value for all rows.
    func truth(_ bool: Bool) -> SQL {
        switch self {
        case .sqlite: bool ? "1" : "0"
        case .postgres: bool ? "TRUE" : "FALSE"
        }
    }

    /// Tests a Boolean value that may be NULL, after it; not true for NULL.
    var isTrue: SQL { self == .sqlite ? " = 1" : " = TRUE" }

    /// The negation of ``isTrue``; true for NULL.
    var isNotTrue: SQL { self == .sqlite ? " IS NOT 1" : " IS NOT TRUE" }

    /// A predicate, in parentheses, as a value that is never NULL.
    func value(of predicate: SQL) -> SQL {
        (self == .sqlite ? "\(predicate) IS 1" : "\(predicate) IS TRUE" as SQL).inParentheses
    }

    /// One of two values.
    func choice(_ test: SQL, _ first: SQL, _ second: SQL) -> SQL {
        self == .sqlite
            ? "IIF(\(test), \(first), \(second))"
            : "CASE WHEN \(test) THEN \(first) ELSE \(second) END"
    }

    /// Whether a column has one of these names of entities. They are literals, since the planner
    /// has statistics and indexes for them. An abstract entity without subentities has none, and
    /// PostgreSQL has no empty lists.
    func isKind(_ column: SQL, _ names: [String]) -> SQL {
        let literals = names.map { "\(literal: $0)" as SQL }
        if literals.isEmpty, self == .postgres { return "\(column) IN (NULL)" }
        return literals.count == 1 ? "\(column) = \(literals[0])" : "\(column) IN (\(literals))"
    }

    // MARK: Equality

    /// Equal, or both NULL.
    var isSame: SQL { self == .sqlite ? " IS " : " IS NOT DISTINCT FROM " }

    /// Different, or one of them NULL.
    var isDifferent: SQL { self == .sqlite ? " IS NOT " : " IS DISTINCT FROM " }

    /// Tests whether a column has one of the keys that are one parameter.
    func isAmongKeys(_ column: SQL) -> SQL {
        switch self {
        case .sqlite: "\(column) IN (SELECT value FROM json_each(\(.key)))"
        case .postgres: "\(column) = ANY (\(.key))"
        }
    }

    /// A table `e` with the objects of a list, and of each row the key and the name of its entity.
    func objectPairs(_ list: SQL) -> (table: SQL, key: SQL, entityName: SQL) {
        switch self {
        case .sqlite:
            ("json_each(\(list))", "json_extract(e.value, '$[0]')", "json_extract(e.value, '$[1]')")
        case .postgres:
            (
                "json_array_elements(CAST(\(list) AS json))", "CAST(e.value->>0 AS bigint)",
                "e.value->>1"
            )
        }
    }

    /// A table `o` with the keys that are one parameter, in `value`, and the index of each from 0.
    var indexedKeys: (table: SQL, index: SQL) {
        switch self {
        case .sqlite: ("json_each(\(.key)) AS o", "o.key")
        case .postgres: ("unnest(\(.key)) WITH ORDINALITY AS o (value, key)", "o.key - 1")
        }
    }

    /// Joins a table, in this order.
    var orderedJoin: SQL { self == .sqlite ? "CROSS JOIN" : "JOIN" }

    // MARK: Order

    /// The direction of a sort key, and where NULL is. SQLite's NULL is less than all values,
    /// PostgreSQL's is greater.
    func direction(isDescending: Bool, isNullable: Bool, nilComesFirst: Bool) -> SQL {
        var direction: SQL = isDescending ? " DESC" : ""
        let isUsual = (self == .sqlite) == (nilComesFirst != isDescending)
        if isNullable, !isUsual { direction += nilComesFirst ? " NULLS FIRST" : " NULLS LAST" }
        return direction
    }

    /// The clause before OFFSET if there is no limit.
    var withoutLimit: SQL { self == .sqlite ? " LIMIT -1" : "" }

    /// Whether the database compares texts by another collation than their bytes, unless a column
    /// has one, and needs to be told so.
    var namesByteOrder: Bool { self == .postgres }

    // MARK: Hints

    /// A condition that is expected to select few rows.
    func unlikely(_ condition: SQL) -> SQL {
        self == .sqlite ? "unlikely(\(condition))" : condition
    }

    /// A column or value that no index is to find.
    func hidden(_ operand: SQL) -> SQL { self == .sqlite ? "+\(operand)" : operand }

    // MARK: Types

    /// The type of a column for the values of an attribute.
    func columnType(of type: AttributeType) -> SQL {
        switch self {
        case .sqlite:
            switch type {
            case .bool, .int16, .int32, .int64: "INTEGER"
            case .float, .double, .date: "REAL"
            case .decimal: "TEXT COLLATE decimal"
            case .string, .url, .json: "TEXT"
            case .uuid, .data: "BLOB"
            }
        case .postgres:
            switch type {
            case .bool: "boolean"
            case .int16: "smallint"
            case .int32: "integer"
            case .int64: "bigint"
            case .float: "real"
            // A date is a number, as Swift's: `timestamptz` rounds to microseconds.
            case .double, .date: "double precision"
            case .decimal: "numeric"
            case .string, .url: "text COLLATE \"C\""
            case .json: "json"
            case .uuid: "uuid"
            case .data: "bytea"
            }
        }
    }

    /// The type of the column with the object's own key.
    var primaryKeyType: SQL {
        self == .sqlite ? "INTEGER PRIMARY KEY AUTOINCREMENT" : "bigint PRIMARY KEY"
    }

    /// After the description of a table whose rows are stored in its primary key.
    var withoutRowid: SQL { self == .sqlite ? " WITHOUT ROWID" : "" }

    /// The type of a key.
    var keyType: SQL { self == .sqlite ? "INTEGER" : "bigint" }
    var textType: SQL { self == .sqlite ? "TEXT" : "text COLLATE \"C\"" }
    var doubleType: SQL { self == .sqlite ? "REAL" : "double precision" }
    var decimalType: SQL { self == .sqlite ? "TEXT" : "numeric" }

    // MARK: Changes

    /// Orders the rows of a constraint by key. SQLite finds them by the constraint's index, which
    /// has them in this order. PostgreSQL must not search the table in the order of its keys.
    func orderOfDuplicates(_ key: SQL) -> SQL { self == .sqlite ? "" : " ORDER BY \(key) + 0" }

    /// Begins the insert of several rows. SQLite keeps the rows before one that fails.
    var insertSeveral: SQL { self == .sqlite ? "INSERT OR FAIL" : "INSERT" }

    /// Inserts a row, unless a row with its primary key is there.
    ///
    /// - Parameter row: The table and the values.
    func insertUnlessPresent(_ row: SQL) -> SQL {
        self == .sqlite
            ? "INSERT OR IGNORE INTO \(row)" : "INSERT INTO \(row) ON CONFLICT DO NOTHING"
    }

    /// A temporary table with keys, and with values of these types, in the columns `key`, `value_0`
    /// and so on. There is one such table for each list of types.
    func selection(_ types: [AttributeType?]) -> (create: SQL, table: SQL) {
        let forms = types.map(ValueForm.init)
        let columns = forms.enumerated().map { number, form in
            self == .sqlite
                ? "value_\(number)" : "value_\(number) \(form.postgresType)" as SQL
        }
        let create: SQL = "CREATE TEMP TABLE IF NOT EXISTS"
        switch self {
        case .sqlite:
            let name: SQL = "_selected_\(types.count)"
            let all: [SQL] = ["key INTEGER PRIMARY KEY"] + columns
            return ("\(create) \(name) (\(all))", "temp.\(name)")
        case .postgres:
            let name: SQL = "\(name: "_selected.\(forms.map(\.rawValue).joined())")"
            let all: [SQL] = ["key bigint PRIMARY KEY"] + columns
            return ("\(create) \(name) (\(all)) ON COMMIT DROP", "pg_temp.\(name)")
        }
    }

    // MARK: History

    /// A value of an attribute, as the history stores it. PostgreSQL's column is a text: numbers in
    /// digits, a Boolean as 0 or 1, bytes in hexadecimal digits after `\x`.
    func recorded(_ value: SQL, as type: AttributeType) -> SQL {
        guard self == .postgres else { return value }
        return switch type {
        case .string, .url: value
        case .bool: "CAST(CAST(\(value) AS integer) AS text)"
        case .uuid: "'\\x' || encode(uuid_send(\(value)), 'hex')"
        case .data: "'\\x' || encode(\(value), 'hex')"
        case .int16, .int32, .int64, .float, .double, .decimal, .date, .json:
            "CAST(\(value) AS text)"
        }
    }

    /// A value that is a parameter, as the history stores it.
    func recorded(_ value: SQLValue) -> SQLValue {
        guard self == .postgres, case .blob(let bytes) = value else { return value }
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return .text("\\x" + String(decoding: text, as: UTF8.self))
    }

    // MARK: Statements

    /// Parameters of one statement: as Debian builds SQLite, and as PostgreSQL's protocol counts.
    var parametersMax: Int { self == .sqlite ? 250_000 : 65_535 }

    /// A complete statement in the form in which it is sent.
    package func finished(_ statement: SQL) -> SQL {
        self == .sqlite ? statement : statement.numbered
    }

    /// - Throws: `unsupported`, unless the database has a form of the function.
    func require(_ form: PostgresForm, _ name: @autoclosure () -> String) throws(LarderError) {
        guard self == .postgres, case .refused = form else { return }
        throw Self.refusal(of: name())
    }

    /// - Throws: `unsupported` in PostgreSQL.
    func refuse(_ name: @autoclosure () -> String) throws(LarderError) {
        if self == .postgres { throw Self.refusal(of: name()) }
    }

    private static func refusal(of name: String) -> LarderError {
        LarderError(
            .unsupported, "\(name) cannot be computed by a store in PostgreSQL",
            hint: "leave it out of the query, and compute it from the result")
    }
}

/// The form of a value, whatever database stores it.
private enum ValueForm: String {
    case integer = "i"
    case real = "r"
    case text = "t"
    case blob = "b"

    /// - Parameter type: nil for the key of an object.
    init(_ type: AttributeType?) {
        self =
            switch type {
            case .bool, .int16, .int32, .int64, nil: .integer
            case .float, .double, .date: .real
            case .decimal, .string, .url, .json: .text
            case .uuid, .data: .blob
            }
    }

    var postgresType: SQL {
        switch self {
        case .integer: "bigint"
        case .real: "double precision"
        case .text: "text"
        case .blob: "bytea"
        }
    }
}
