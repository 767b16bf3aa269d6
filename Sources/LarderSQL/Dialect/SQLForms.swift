/// A statement in the form of each dialect.
struct SQLForms: Sendable {
    private let sqlite: SQL
    private let postgres: SQL

    init(_ form: (SQLDialect) -> SQL) {
        sqlite = form(.sqlite)
        postgres = form(.postgres)
    }

    subscript(dialect: SQLDialect) -> SQL { dialect == .sqlite ? sqlite : postgres }
}
