/// A parameter of a statement, or a value of a row.
///
/// A parameter has a type of its own, so that a statement is prepared without asking the server for
/// the types of its parameters. PostgreSQL converts it where the column has a narrower type: a
/// `bigint` to a `smallint`, `json` to `jsonb`.
package enum PostgresValue: Hashable, Sendable {
    /// The type is that of a parameter; in a row, that of the column.
    case null(PostgresType)
    case bool(Bool)
    /// A `bigint`; in a row, an `integer` or a `smallint` too.
    case integer(Int64)
    case real(Float)
    case double(Double)
    /// A number in digits, without an exponent: see ``NumericText``.
    case numeric(String)
    /// U+0000 in it is an error of the server: ``PostgresError/Condition/invalidText``.
    case text(String)
    case bytes([UInt8])
    /// 16 bytes.
    case uuid([UInt8])
    /// A document as its text, in which PostgreSQL changes nothing.
    case json(String)
    /// Microseconds since the year 2000 in UTC. The minimum and the maximum are PostgreSQL's
    /// infinities.
    case timestamp(Int64)
    /// The parameter of `= ANY (…)`. In rows there are no arrays.
    case integers([Int64])

    package var type: PostgresType {
        switch self {
        case .null(let type): type
        case .bool: .bool
        case .integer: .bigint
        case .real: .real
        case .double: .double
        case .numeric: .numeric
        case .text: .text
        case .bytes: .bytea
        case .uuid: .uuid
        case .json: .json
        case .timestamp: .timestamptz
        case .integers: .bigints
        }
    }

    package var isNull: Bool { if case .null = self { true } else { false } }
}
