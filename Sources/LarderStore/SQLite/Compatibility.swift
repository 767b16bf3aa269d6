typealias SQLBinding = SQLValue

typealias SQLText = SQL

extension SQL {
    init(_ text: String) { self.init(unchecked: text) }

    static func quoted(_ name: String) -> String { ("\(name: name)" as SQL).text }

    var bindings: [SQLValue] { values }
}

extension StatementCache {
    @_disfavoredOverload
    func statement(_ text: String) throws(SQLiteError) -> Statement {
        try statement(SQL(unchecked: text))
    }
}

extension Connection {
    @_disfavoredOverload
    func execute(_ text: String) throws(SQLiteError) { try execute(SQL(unchecked: text)) }

    @_disfavoredOverload
    func prepare(_ text: String, persistent: Bool = false) throws(SQLiteError) -> Statement {
        try prepare(SQL(unchecked: text), persistent: persistent)
    }

    @_disfavoredOverload
    func integer(_ text: String) throws(SQLiteError) -> Int64? {
        try integer(SQL(unchecked: text))
    }
}

extension SQLiteError {
    init(extendedCode: Int32, message: String, sql: String? = nil, systemError: Int32 = 0) {
        self.init(
            Condition(extendedCode, message), message, sql: sql, systemError: systemError)
    }

    var isOfUniqueness: Bool { condition == .uniquenessViolated }

    var code: Int32 {
        switch condition {
        case .statement, .nestedTooDeep: 1
        case .interrupted: 9
        case .uniquenessViolated, .constraintViolated: 19
        case .mismatch: 20
        case .tooLarge: 18
        case .busy: 5
        case .full: 13
        case .inputOutput: 10
        case .cannotOpen: 14
        case .permissionDenied: 3
        case .readOnly: 8
        case .corrupt: 11
        case .notADatabase: 26
        case .outOfMemory: 7
        case .other: 21
        }
    }
}

extension DerivationPlan {
    var text: String { sql.text }

    func bindings(key: Int64?, now: Double) -> [SQLValue] { values(key: key, now: now) }
}

extension Layout {
    static func preserve(
        _ column: String, in table: String, of entityName: String, as property: String
    ) -> String {
        (preserve(column, in: table, of: entityName, as: property) as SQL).text
    }
}

extension SQL.StringInterpolation {
    @_disfavoredOverload
    mutating func appendInterpolation(_ text: String) { sql.append(SQL(unchecked: text)) }
}
